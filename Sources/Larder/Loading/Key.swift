/// What a copy is kept under: resource, scope and parameters together. Two scopes never share a key.
///
/// The hash is computed once, when the key is made, with the process's own seed. A key may hold what must not leave
/// the process, so its description shows the resource alone.
public struct Key: Hashable, Sendable, CustomStringConvertible {
    /// One reference, so that copying a key costs one count and no more.
    private final class Parts: Sendable {
        let resource: String
        let scope: String?
        let text: String

        init(resource: String, scope: String?, text: String) {
            self.resource = resource
            self.scope = scope
            self.text = text
        }
    }

    private let parts: Parts
    /// The text's hash, with the process's own seed.
    public let hash: Int

    /// The resource this key belongs to.
    public var resource: String { parts.resource }
    /// The account this key belongs to; nil for what belongs to nobody.
    public var scope: String? { parts.scope }
    /// Resource, scope and parameters in one unambiguous ASCII spelling: `feed@alice?id=42`.
    public var text: String { parts.text }

    /// The SHA-256 digest of ``text`` in 64 hexadecimal digits: a name for files and rows.
    ///
    /// It is the same in every process, on every machine and in every version of Larder, unlike ``hash``. It takes about a
    /// microsecond to compute and is not kept. Who knows which keys there may be can find out which of them it belongs to.
    public var digest: String { SHA256.hex(text.utf8) }

    /// The key of one instance of a resource. The order of parameters does not matter.
    public init(resource: String, scope: String? = nil, parameters: [String: String] = [:]) {
        var text = Self.escaped(resource)
        if let scope { text += "@" + Self.escaped(scope) }
        if !parameters.isEmpty {
            let pairs = parameters.sorted { $0.key < $1.key }
            text += "?" + pairs.map { Self.escaped($0.key) + "=" + Self.escaped($0.value) }.joined(separator: "&")
        }
        parts = Parts(resource: resource, scope: scope, text: text)
        var hasher = Hasher()
        hasher.combine(text)
        hash = hasher.finalize()
    }

    /// Whether two keys stand for the same thing.
    public static func == (left: Key, right: Key) -> Bool {
        left.hash == right.hash && (left.parts === right.parts || left.parts.text == right.parts.text)
    }

    /// Feeds the hash that was computed when the key was made.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    /// The resource only: keys stay out of logs.
    public var description: String { "a key of \(resource)" }

    /// The bytes of `text`, those that separate parts and those that are not ASCII as `%40`. Characters are no unit to go
    /// by: a combining mark hides the separator it follows, and equivalent texts would be equal keys.
    private static func escaped(_ text: String) -> String {
        func isPlain(_ byte: UInt8) -> Bool { byte < 0x80 && !"%@?&=".utf8.contains(byte) }
        guard !text.utf8.allSatisfy(isPlain) else { return text }
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte in
            isPlain(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Which entries an operation on a store is about.
public enum Selection: Sendable, Hashable {
    /// The one entry with this key.
    case key(Key)
    /// Every entry of this account; nil selects the entries that belong to nobody.
    case scope(String?)
    /// Every entry that bears this tag.
    case tag(String)
    /// Every entry.
    case all

    /// Whether an entry that is kept under `key` is meant.
    public func contains(_ key: Key, _ entry: Entry) -> Bool {
        contains(key, tags: entry.metadata.tags)
    }

    /// Whether an entry that is kept under `key` and bears `tags` is meant.
    package func contains(_ key: Key, tags: [String]) -> Bool {
        switch self {
        case .key(let wanted): wanted == key
        case .scope(let scope): key.scope.map { Array($0.utf8) } == scope.map { Array($0.utf8) }
        case .tag(let tag): tags.contains(tag)
        case .all: true
        }
    }

    /// Whether an entry that is kept under `key` may be meant, whatever its tags are.
    func mayContain(_ key: Key) -> Bool {
        if case .tag = self { return true }
        return contains(key, tags: [])
    }
}
