public import LarderFoundation
import LarderSystem

/// Identifies a copy in a store by resource, scope and parameters. Two scopes never share a key.
///
/// A key whose text has at most 23 bytes takes no memory of its own. The hash is computed once, when the key is created,
/// with the process's own seed. A key may hold private data that must not leave the process, so its description and its
/// mirror show only the resource and the ``digest``.
public struct Key: Hashable, Sendable, ShownByDescription {
    /// The text of a longer key, and its parts.
    @usableFromInline final class Long: Sendable {
        let resource: String
        let scope: String?
        let text: String
        /// The key without its variant; nil for a key without a variant.
        let base: Key?

        init(resource: String, scope: String?, text: String, base: Key? = nil) {
            self.resource = resource
            self.scope = scope
            self.text = text
            self.base = base
        }
    }

    /// The text, unless it is long.
    @usableFromInline let shortText: ShortKey
    /// The hash of the text, with the process's own seed.
    public let hash: Int
    /// Nil if the text is short and has no variant.
    @usableFromInline let long: Long?

    /// The name of the resource.
    public var resource: String { long?.resource ?? KeyParts.resource(of: shortText) }
    /// The account that owns the copy; nil if the copy belongs to no account.
    public var scope: String? { if let long { long.scope } else { KeyParts.scope(of: shortText) } }
    /// The key in an unambiguous ASCII form: `feed@alice?id=42`.
    ///
    /// A second `?` comes before the digest of the request's body and the variant of the answer, if there are any:
    /// `feed@alice?id=42?body=9f86…&variant=5feb…`.
    public var text: String { long?.text ?? shortText.text }
    /// The memory that the key takes beside its place in a table, in bytes: 0 if its text has at most 23 bytes.
    public var weight: Int { long.map { Self.longOverhead + $0.text.utf8.count } ?? 0 }

    /// The memory of a longer key besides its text, in bytes.
    private static let longOverhead = 176
    /// The key without its variant. A key has a variant if the answers for it vary by fields of the request: see
    /// ``Metadata/variesBy``.
    package var base: Key { long?.base ?? self }
    /// Whether the key has a variant.
    package var isVariant: Bool { long?.base != nil }
    /// The parameters, which are read from the text on each access.
    public var parameters: Parameters { KeyParts.parameters(in: text) }

    /// The SHA-256 digest of ``text`` in 64 hexadecimal digits, for names of files and rows.
    ///
    /// Unlike ``hash``, it is the same in every process, on every machine and in every version of Larder. It is
    /// computed on each access, which takes about a microsecond. It does not protect a key that can be guessed, because
    /// the digest of each guess can be compared with it.
    public var digest: String { SHA256.hex(text.utf8) }

    /// Creates the key of one instance of a resource. The order of parameters does not matter. Of a body, the key has
    /// only the digest.
    public init(resource: String, scope: String? = nil, parameters: Parameters = [:], body: Data? = nil) {
        self.init(
            resource: resource, scope: scope, parameters: parameters, bodyDigest: body.map { SHA256.hex($0) })
    }

    init(resource: String, scope: String?, parameters: Parameters, bodyDigest: String?) {
        self = Key.of(resource, scope: scope, parameters: parameters, bodyDigest: bodyDigest)
    }

    /// Returns the key with these parts. A function, because an initializer would copy them.
    ///
    /// - Parameter beginning: the beginning of short keys of the resource, if it is known.
    static func of(
        _ resource: String, beginning: ShortKey.Prefix? = nil, scope: String?, parameters: Parameters,
        bodyDigest: String?
    ) -> Key {
        switch KeyWriter.text(
            of: resource, beginning: beginning, scope: scope, parameters: parameters, bodyDigest: bodyDigest)
        {
        case .short(let text): Key(text)
        case .long(let text): Key(Long(resource: resource, scope: scope, text: text))
        }
    }

    private init(_ text: ShortKey) {
        shortText = text
        hash = text.processHash
        long = nil
    }

    private init(_ long: Long) {
        shortText = ShortKey()
        self.long = long
        var hasher = Hasher()
        hasher.combine(long.text)
        hash = hasher.finalize()
    }

    /// Returns the key of a variant of the answers for this key. `digest` must consist of lowercase hexadecimal digits.
    func variant(_ digest: String) -> Key {
        let text = base.text
        let separator =
            switch text.utf8.count(where: { $0 == UInt8(ascii: "?") }) {
            case 0: "??"
            case 1: "?"
            default: "&"
            }
        return Key(
            Long(resource: resource, scope: scope, text: text + separator + "variant=" + digest, base: base))
    }

    /// The text if it is short.
    var short: ShortKey? { long == nil ? shortText : nil }

    /// Returns whether the key is one of this resource.
    @inline(__always)
    func isOf(_ resource: ResourceName) -> Bool {
        if let long { return long.resource == resource.text }
        return shortText.begins(with: resource.prefix)
    }

    /// Returns whether two keys have the same text.
    @inlinable @inline(__always)
    public static func == (left: Key, right: Key) -> Bool {
        guard left.hash == right.hash, left.shortText == right.shortText else { return false }
        return left.long == nil && right.long == nil || isSameLong(left, right)
    }

    @usableFromInline @inline(never)
    static func isSameLong(_ left: Key, _ right: Key) -> Bool {
        left.long === right.long || left.long?.text == right.long?.text
    }

    /// Hashes the hash that was computed when the key was created.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    /// The name of the resource and the digest: `feed 9f86d081…`, with all 64 digits.
    public var description: String { "\(resource) \(digest)" }
}

/// The entries that an operation on a store applies to.
public enum Selection: Sendable, Hashable {
    /// The entry with this key. A clearing of the key of a request reaches all variants of it: the graph names each to
    /// the store.
    case key(Key)
    /// Every entry of this account; nil selects the entries that belong to no account.
    case scope(String?)
    /// Every entry with this tag.
    case tag(String)
    /// Every entry.
    case all

    /// Returns whether an entry under `key` is selected.
    public func contains(_ key: Key, _ entry: Entry) -> Bool {
        contains(key, tags: entry.metadata.tags)
    }

    /// Returns whether an entry under `key` with these tags is selected.
    package func contains(_ key: Key, tags: [String]) -> Bool {
        switch self {
        case .key(let wanted): wanted == key
        case .scope(let scope): key.scope.map { Array($0.utf8) } == scope.map { Array($0.utf8) }
        case .tag(let tag): tags.contains(tag)
        case .all: true
        }
    }

    /// Returns whether a clearing of the selection concerns an entry under `key` with these tags. A clearing of a key
    /// concerns its variants, too.
    func concerns(_ key: Key, tags: [String]) -> Bool {
        contains(key, tags: tags) || key.isVariant && contains(key.base, tags: tags)
    }

    /// Returns whether a clearing of the selection may concern an entry under `key`, whose tags are unknown. Writes and
    /// calls are kept under base keys, so a clearing of one variant concerns its base key.
    func mayConcern(_ key: Key) -> Bool {
        switch self {
        case .tag: true
        case .key(let wanted): wanted.base == key.base
        case .scope, .all: concerns(key, tags: [])
        }
    }
}
