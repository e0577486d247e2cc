/// The part of an encoded entry before the payload, for stores that read or write it alone.
///
/// ```swift
/// let head = try EncodedHead(of: firstBytes)
/// let listed = ListedEntry(key: head.key, digest: name, metadata: head.metadata, size: head.payloadSize)
/// ```
public struct EncodedHead: Sendable {
    /// The metadata of the entry.
    public let metadata: Metadata
    /// The number of bytes of the head. The payload begins there.
    public let size: Int
    /// The number of bytes of the payload.
    public let payloadSize: Int
    private let owner: String?

    /// The number of bytes that ``size(of:)`` needs.
    public static let prefixSize = Entry.start

    /// Reads the head at the beginning of `bytes`, which ``Entry/encoded(for:)`` or ``Entry/encodedHead(for:)`` returned.
    /// The bytes behind it do not matter.
    ///
    /// - Throws: ``StoreError`` if the head is damaged or incomplete. ``StoreError/isDamaged`` is then set.
    public init(of bytes: [UInt8]) throws(StoreError) {
        let head = try Entry.readHead(bytes)
        (metadata, size, payloadSize, owner) = (head.metadata, head.end, head.length, head.owner)
    }

    /// Returns the size of the head that begins with these bytes. Returns nil if they are fewer than ``prefixSize``, or if no
    /// head begins with them. The size is not checked: it can be larger than the file.
    public static func size(of bytes: [UInt8]) -> Int? { Entry.headSize(bytes) }

    /// Returns whether the entry was encoded for `key`.
    public func isOf(_ key: Key) -> Bool { owner == key.text }

    /// Returns the head with other metadata, so that a store can write them without the payload.
    ///
    /// - Throws: ``StoreError`` if the head is too large to be read again.
    public func encoded(with metadata: Metadata) throws(StoreError) -> [UInt8] {
        try Entry.encodedHead(owner: owner, metadata, payloadSize: payloadSize)
    }

    /// The key of the entry; nil if the head names none.
    public var key: Key? { owner.flatMap(Key.init(text:)) }
}
