/// A position in the list of a store's entries. Only the store that made it understands it, and only as long as the
/// store is open.
public struct StoreCursor: Hashable, Sendable {
    /// The position, in a form that the store chooses.
    public let text: String

    /// Creates a position.
    public init(_ text: String) {
        self.text = text
    }
}

/// A part of the list of a store's entries.
public struct StorePage: Sendable {
    /// The entries.
    public var entries: [ListedEntry]
    /// The position after the last entry; nil at the end of the list.
    public var next: StoreCursor?

    /// Creates a page.
    public init(_ entries: [ListedEntry], next: StoreCursor? = nil) {
        self.entries = entries
        self.next = next
    }
}

/// The facts about an entry in the list of a store's entries.
public struct ListedEntry: Sendable {
    /// The key; nil if the store does not know it.
    public var key: Key?
    /// The digest of the key: see ``Key/digest``.
    public var digest: String
    /// The entry's metadata.
    public var metadata: Metadata
    /// The size of the payload, in bytes.
    public var size: Int
    /// Whether it is pinned. A store that pins entries must tell it.
    public var isPinned = false

    /// Creates the facts about an entry whose key is known.
    public init(_ key: Key, _ metadata: Metadata, size: Int) {
        self.init(key: key, digest: key.digest, metadata: metadata, size: size)
    }

    /// Creates the facts about an entry.
    public init(key: Key?, digest: String, metadata: Metadata, size: Int) {
        self.key = key
        self.digest = digest
        self.metadata = metadata
        self.size = size
    }
}
