/// The path of a place below the cache folder, such as `feed/entries`: the folder of its resource and its own.
struct PlaceName: Hashable, Comparable, Sendable {
    /// The name of the resource's folder.
    let folder: String
    /// The name of the place's own.
    let name: String

    /// Both, from the cache folder on.
    var path: String { folder + "/" + name }

    init(resource: String, _ name: String) {
        folder = Self.folder(of: resource)
        self.name = Self.escaped(name, allowingDots: true)
    }

    /// The place with this path; nil unless both names are such as this type makes, which lead nowhere else.
    init?(path: Substring) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, Self.isSafe(parts[0], allowingDots: false), Self.isSafe(parts[1], allowingDots: true)
        else { return nil }
        (folder, name) = (parts[0], parts[1])
    }

    static func < (left: PlaceName, right: PlaceName) -> Bool { left.path < right.path }

    /// The name of a resource's folder: letters, digits, `-` and `_` stand for themselves.
    static func folder(of resource: String) -> String { escaped(resource, allowingDots: false) }

    private static let most = 120

    private static func escaped(_ text: String, allowingDots: Bool) -> String {
        // A name that begins with a dot is none of a place's.
        let isDotted = allowingDots && !text.hasPrefix(".")
        let name = PercentEncoding.encoded(text) { isPlain($0, isDotted) }
        return name.utf8.count <= most ? name : String(SHA256.hex(text.utf8))
    }

    private static func isPlain(_ byte: UInt8, _ allowingDots: Bool) -> Bool {
        PercentEncoding.isPlain(byte) || allowingDots && byte == UInt8(ascii: ".")
    }

    private static func isSafe(_ name: String, allowingDots: Bool) -> Bool {
        (1...most).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
            && name.utf8.allSatisfy { isPlain($0, allowingDots) || $0 == UInt8(ascii: "%") }
    }
}
