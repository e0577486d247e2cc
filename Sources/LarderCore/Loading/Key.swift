#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
import LarderBase

/// Identifies a copy in a store by resource, scope and parameters. Two scopes never share a key.
///
/// The hash is computed once, when the key is created, with the process's own seed. A key may hold private data that
/// must not leave the process, so its description and its mirror show only the resource and the ``digest``.
public struct Key: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Holds the parts behind a single reference, so that copying a key changes only one reference count.
    private final class Parts: Sendable {
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

    private let parts: Parts
    /// The hash of the text, with the process's own seed.
    public let hash: Int

    /// The name of the resource.
    public var resource: String { parts.resource }
    /// The account that owns the copy; nil if the copy belongs to no account.
    public var scope: String? { parts.scope }
    /// The key in an unambiguous ASCII form: `feed@alice?id=42`.
    ///
    /// A second `?` comes before the digest of the request's body and the variant of the answer, if there are any:
    /// `feed@alice?id=42?body=9f86…&variant=5feb…`.
    public var text: String { parts.text }
    /// The key without its variant. A key has a variant if the answers for it vary by fields of the request: see
    /// ``Metadata/variesBy``.
    public var base: Key { parts.base ?? self }
    /// Whether the key has a variant.
    public var isVariant: Bool { parts.base != nil }

    /// The SHA-256 digest of ``text`` in 64 hexadecimal digits, for names of files and rows.
    ///
    /// Unlike ``hash``, it is the same in every process, on every machine and in every version of Larder. It is
    /// computed on each access, which takes about a microsecond. It does not protect a key that can be guessed, because
    /// the digest of each guess can be compared with it.
    public var digest: String { SHA256.hex(text.utf8) }

    /// Creates the key of one instance of a resource. The order of parameters does not matter. Of a body, the key has
    /// only the digest.
    public init(resource: String, scope: String? = nil, parameters: [String: String] = [:], body: Data? = nil) {
        self.init(
            resource: resource, scope: scope, parameters: parameters, bodyDigest: body.map { SHA256.hex($0) })
    }

    init(resource: String, scope: String?, parameters: [String: String], bodyDigest: String?) {
        // Most keys have one parameter at most, which needs no order.
        let sorted = parameters.count > 1 ? parameters.sorted { $0.key < $1.key } : []
        let bytes = parameters.reduce(resource.utf8.count + (scope?.utf8.count ?? 0)) { sum, parameter in
            // Two bytes for the separators, which take one each.
            sum + parameter.key.utf8.count + parameter.value.utf8.count + 2
        }
        let capacity = 3 * bytes + 1 + (bodyDigest.map { $0.utf8.count + 7 } ?? 0)
        let text = KeyWriter.text(atMost: capacity) { text in
            text.write(resource)
            if let scope {
                text.write(separator: "@")
                text.write(scope)
            }
            var separator: Unicode.Scalar = "?"
            func write(_ name: String, _ value: String) {
                text.write(separator: separator)
                text.write(name)
                text.write(separator: "=")
                text.write(value)
                separator = "&"
            }
            if sorted.isEmpty {
                for (name, value) in parameters { write(name, value) }
            } else {
                for (name, value) in sorted { write(name, value) }
            }
            if let bodyDigest { text.write(plain: (parameters.isEmpty ? "??body=" : "?body=") + bodyDigest) }
        }
        self.init(Parts(resource: resource, scope: scope, text: text))
    }

    private init(_ parts: Parts) {
        self.parts = parts
        var hasher = Hasher()
        hasher.combine(parts.text)
        hash = hasher.finalize()
    }

    /// Returns the key of a variant of the answers for this key. `digest` must consist of lowercase hexadecimal digits.
    func variant(_ digest: String) -> Key {
        let separator =
            switch base.text.utf8.count(where: { $0 == UInt8(ascii: "?") }) {
            case 0: "??"
            case 1: "?"
            default: "&"
            }
        let text = base.text + separator + "variant=" + digest
        return Key(Parts(resource: resource, scope: scope, text: text, base: base))
    }

    /// Returns whether two keys have the same text.
    public static func == (left: Key, right: Key) -> Bool {
        left.hash == right.hash && (left.parts === right.parts || left.parts.text == right.parts.text)
    }

    /// Hashes the hash that was computed when the key was created.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    /// The name of the resource and the digest: `feed 9f86d081…`, with all 64 digits.
    public var description: String { "\(resource) \(digest)" }

    /// A mirror that shows only the resource and the digest.
    public var customMirror: Mirror { Mirror(self, children: ["resource": resource, "digest": digest]) }
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
