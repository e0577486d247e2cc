import LarderSystem

/// The path of a place below the cache folder, such as `feed/entries`: the folder of its resource, and its own folder.
struct PlaceName: Hashable, Comparable, Sendable {
    /// The name of the resource's folder.
    let folder: String
    /// The name of the place's own folder.
    let name: String

    /// The owner of the places of the pantry's own sections. No resource can have this name.
    static let pantry = "_larder"

    /// The path below the cache folder.
    var path: String { folder + "/" + name }

    /// Makes the name of a place of a store, or of a section. Names in different sections, or in none, are always
    /// different: only those in sections contain an `@`.
    init(resource: String, section: String? = nil, _ name: String) {
        folder = Self.folder(of: resource)
        let own = Self.escaped(name, allowingDots: true)
        guard let section = section.map({ Self.escaped($0, allowingDots: false) }) else {
            self.name = own
            return
        }
        let full = section + "@" + own
        self.name = full.utf8.count <= Self.most ? full : "@" + String(SHA256.hex((section + "/" + name).utf8))
    }

    /// Makes the name of the place with this path. Nil unless this type could have made both folder names, so that the
    /// path cannot lead out of the cache folder.
    init?(path: Substring) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, Self.isSafe(parts[0], allowingDots: false), Self.isSafe(parts[1], allowingDots: true)
        else { return nil }
        (folder, name) = (parts[0], parts[1])
    }

    static func < (left: PlaceName, right: PlaceName) -> Bool { left.path < right.path }

    /// Returns the name of a resource's folder: its own name, with all bytes encoded except letters, digits, `-` and
    /// `_`.
    static func folder(of resource: String) -> String { escaped(resource, allowingDots: false) }

    private static let most = 120

    private static func escaped(_ text: String, allowingDots: Bool) -> String {
        // The name of a place never begins with a dot.
        let isDotted = allowingDots && !text.hasPrefix(".")
        let name = PercentEncoding.encoded(text) { isPlain($0, isDotted) }
        return name.utf8.count <= most ? name : String(SHA256.hex(text.utf8))
    }

    private static func isPlain(_ byte: UInt8, _ allowingDots: Bool) -> Bool {
        PercentEncoding.isPlain(byte) || allowingDots && byte == UInt8(ascii: ".")
    }

    private static func isSafe(_ name: String, allowingDots: Bool) -> Bool {
        (1...most).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
            && name.utf8.allSatisfy {
                isPlain($0, allowingDots) || $0 == UInt8(ascii: "%") || allowingDots && $0 == UInt8(ascii: "@")
            }
    }
}
