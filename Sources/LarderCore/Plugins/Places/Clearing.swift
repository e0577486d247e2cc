import LarderSystem

/// A clearing as it is recorded in a file before it is carried out.
struct Clearing: Sendable, Equatable {
    /// The name of the file.
    let id: String
    let selection: Selection
    /// Whether changes of users that were not sent are discarded, too.
    let discardsUnsent: Bool
    /// The folder of the resource that is cleared; nil if all resources are.
    var folder: String?
    /// The places that are still to be cleared; nil for all places in the manifest.
    var places: Set<PlaceName>?

    private static let prefix = "clearing-"

    /// Returns whether a file with this name is a clearing that was written completely.
    static func isFile(_ name: String) -> Bool {
        name.hasPrefix(prefix) && !name.hasSuffix(Disk.temporarySuffix)
    }

    init(_ selection: Selection, discardingUnsent: Bool = false, resource: String? = nil) {
        id = Self.prefix + Disk.randomName()
        self.selection = selection
        discardsUnsent = discardingUnsent
        folder = resource.map(PlaceName.folder)
    }

    /// Returns whether the clearing applies to a place.
    func concerns(_ place: PlaceName) -> Bool {
        places?.contains(place) ?? (folder == nil || folder == place.folder)
    }

    // MARK: Writing

    private static let head = "larder-clearing 1"
    private static let discards = "discards unsent"

    /// The clearing as the text of its file.
    var bytes: [UInt8] {
        var lines = [Self.head, Self.line(for: selection)]
        if discardsUnsent { lines.append(Self.discards) }
        if let folder { lines.append("resource " + folder) }
        if let places { lines += ["some"] + places.sorted().map { "place " + $0.path } }
        return Array((lines + ["end", ""]).joined(separator: "\n").utf8)
    }

    /// Reads a clearing from the contents of its file. A damaged file selects everything, because removing too much is
    /// better than keeping the data of an account. It discards nothing that was not sent, because nothing else has that.
    init(id: String, bytes: [UInt8]) {
        self =
            Self(id: id, text: String(decoding: bytes, as: UTF8.self))
            ?? Self(id: id, selection: .all, discardsUnsent: false)
    }

    private init(id: String, selection: Selection, discardsUnsent: Bool) {
        (self.id, self.selection, self.discardsUnsent) = (id, selection, discardsUnsent)
    }

    private init?(id: String, text: String) {
        // A reserved file is longer than its text: the rest is filled with line ends.
        let lines = text.split(separator: "\n")
        guard lines.count > 2, lines[0] == Self.head, lines.last == "end",
            let selection = Self.selection(in: lines[1])
        else { return nil }
        let discards = lines[2] == Self.discards
        var clearing = Self(id: id, selection: selection, discardsUnsent: discards)
        for line in lines[(discards ? 3 : 2)...].dropLast() {
            let words = line.split(separator: " ", maxSplits: 1)
            switch (words.first, words.count) {
            case ("resource", 2): clearing.folder = String(words[1])
            case ("some", 1): clearing.places = []
            case ("place", 2):
                guard let place = PlaceName(path: words[1]) else { return nil }
                clearing.places?.insert(place)
            default: return nil
            }
        }
        self = clearing
    }

    private static func line(for selection: Selection) -> String {
        switch selection {
        case .key(let key): "key " + PercentEncoding.encoded(key.text)
        case .scope(nil): "nobody"
        case .scope(let scope?): "scope " + PercentEncoding.encoded(scope)
        case .tag(let tag): "tag " + PercentEncoding.encoded(tag)
        case .all: "all"
        }
    }

    private static func selection(in line: Substring) -> Selection? {
        let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard let rest = PercentEncoding.decoded(words.count > 1 ? words[1].utf8 : "".utf8[...]) else { return nil }
        switch (words[0], words.count) {
        case ("all", 1): return .all
        case ("nobody", 1): return .scope(nil)
        case ("key", 2): return Key(text: rest).map { .key($0) }
        case ("scope", 2): return .scope(rest)
        case ("tag", 2): return .tag(rest)
        default: return nil
        }
    }
}
