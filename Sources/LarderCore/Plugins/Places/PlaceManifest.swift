import LarderSystem

/// The list of all places that were handed out below a cache folder, in a file to which lines are added.
///
/// - `open feed/entries TOKEN SECONDS`: the pantry with this token uses the place.
/// - `close feed/entries TOKEN SECONDS`: the pantry with this token no longer uses it.
/// - `used feed/entries SECONDS`: the time of its last use.
/// - `gone feed/entries`: it was deleted.
///
/// Other lines are ignored, for example incomplete or forged ones. The file is read and changed only while the lock of
/// its folder is held.
struct PlaceManifest {
    struct Listing: Equatable {
        /// The time of the last known use, in seconds since 1970.
        var used: Int64
        /// The tokens of the pantries that use the place.
        var holders: Set<String> = []
    }

    /// The largest file that is read: far more than 10,000 places need.
    private static let mostBytes = 1 << 26

    let path: String
    private(set) var listings: [PlaceName: Listing] = [:]
    /// The first line, which is different in every file; empty until it is known.
    private var head: [UInt8] = []
    private var offset = 0
    /// Whether the last line is incomplete.
    private var isTorn = false
    private var lines = 0

    init(_ path: String) {
        self.path = path
    }

    /// Whether there are many more lines than necessary.
    var isWasteful: Bool { head.isEmpty && lines > 0 || lines > 2 * listings.count + 1_000 }

    /// Reads the lines that any process has added since the last call. A missing file means that there are no places.
    mutating func refresh() throws(Disk.Failure) {
        do throws(Disk.Failure) {
            let tail = try Disk.tail(of: path, from: offset, after: head, limit: Self.mostBytes)
            if tail.isWhole { self = PlaceManifest(path) }
            if tail.isWhole { head = Self.head(of: tail.bytes) }
            read(tail.bytes)
        } catch {
            guard error.isMissing else { throw error }
            self = PlaceManifest(path)
        }
    }

    mutating func open(_ place: PlaceName, by token: String, at seconds: Int64) throws(Disk.Failure) {
        try add(["open \(place.path) \(token) \(seconds)"])
    }

    mutating func close(_ places: [(name: PlaceName, used: Int64)], by token: String) throws(Disk.Failure) {
        try add(places.map { "close \($0.name.path) \(token) \($0.used)" })
    }

    mutating func forget(_ places: [PlaceName]) throws(Disk.Failure) {
        try add(places.map { "gone \($0.path)" })
    }

    /// Removes the tokens of pantries that have ended, and replaces times of use in the future by the present time.
    /// ``compact()`` writes the changes to the file.
    ///
    /// - Returns: whether anything changed.
    mutating func removeHolders(except living: Set<String>, at seconds: Int64) -> Bool {
        let changed = listings.filter { $0.value.used > seconds || !$0.value.holders.isSubset(of: living) }
        for (name, listing) in changed {
            listings[name] = Listing(used: seconds, holders: listing.holders.intersection(living))
        }
        return !changed.isEmpty
    }

    /// Writes a new file without the lines that are no longer needed.
    mutating func compact() throws(Disk.Failure) {
        let lines = listings.sorted { $0.key < $1.key }.flatMap { name, listing in
            ["used \(name.path) \(listing.used)"]
                + listing.holders.sorted().map { "open \(name.path) \($0) \(listing.used)" }
        }
        try Disk.replaceDurably(path, with: Self.bytes([Self.newHead] + lines))
        self = PlaceManifest(path)
        try refresh()
    }

    private mutating func add(_ lines: [String]) throws(Disk.Failure) {
        if lines.isEmpty { return }
        let bytes = Self.bytes((offset == 0 && !isTorn ? [Self.newHead] : []) + lines)
        try Disk.append(isTorn ? [UInt8(ascii: "\n")] + bytes : bytes, to: path)
        try refresh()
    }

    private static let headWord = "larder-places "

    private static var newHead: String { headWord + Disk.randomName() }

    private static func head(of bytes: [UInt8]) -> [UInt8] {
        let count = headWord.utf8.count + 17
        let isThere = bytes.starts(with: headWord.utf8) && bytes.dropFirst(count - 1).first == UInt8(ascii: "\n")
        return isThere ? Array(bytes[..<count]) : []
    }

    private static func bytes(_ lines: [String]) -> [UInt8] {
        lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    }

    private mutating func read(_ bytes: [UInt8]) {
        guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else {
            isTorn = !bytes.isEmpty
            return
        }
        isTorn = end + 1 < bytes.count
        offset += end + 1
        for line in bytes[..<end].split(separator: UInt8(ascii: "\n")) where line.count < 1_000 {
            lines += 1
            read(line: String(decoding: line, as: UTF8.self))
        }
    }

    private mutating func read(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count > 1, let name = PlaceName(path: words[1]) else { return }
        switch (words[0], words.count) {
        case ("open", 4):
            guard let used = Self.time(words[3]), Self.isToken(words[2]) else { return }
            note(name, used: used) { $0.insert(String(words[2])) }
        case ("close", 4):
            guard let used = Self.time(words[3]), listings[name] != nil else { return }
            note(name, used: used) { $0.remove(String(words[2])) }
        case ("used", 3):
            guard let used = Self.time(words[2]) else { return }
            note(name, used: used) { _ in }
        case ("gone", 2): listings[name] = nil
        default: return
        }
    }

    private mutating func note(_ name: PlaceName, used: Int64, change: (inout Set<String>) -> Void) {
        var listing = listings[name] ?? Listing(used: used)
        listing.used = max(listing.used, used)
        change(&listing.holders)
        listings[name] = listing
    }

    /// Returns the seconds since 1970, or nil if the text cannot be a time.
    private static func time(_ text: Substring) -> Int64? {
        Int64(text).flatMap { (0...1 << 40).contains($0) ? $0 : nil }
    }

    private static func isToken(_ text: Substring) -> Bool {
        text.utf8.count == 16 && text.utf8.allSatisfy { ($0 >= 48 && $0 <= 57) || ($0 >= 97 && $0 <= 102) }
    }
}
