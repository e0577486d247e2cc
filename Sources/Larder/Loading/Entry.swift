#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a store keeps: a payload and what is known about it.
public struct Entry: Sendable {
    /// The bytes, and what they were decoded into.
    public var payload: Payload
    /// What is known about the payload.
    public var metadata: Metadata

    /// An entry of `bytes`.
    public init(_ bytes: Data, _ metadata: Metadata = Metadata()) {
        self.payload = Payload(bytes)
        self.metadata = metadata
    }

    /// What the entry weighs in a store with a capacity in bytes: the payload, what the origin said of it, and a flat
    /// sum for the rest.
    public var weight: Int {
        let texts = [metadata.etag, metadata.lastModified, metadata.contentType].compactMap { $0 } + metadata.tags
        return texts.reduce(payload.bytes.count + Self.overhead) { $0 + $1.utf8.count }
    }

    /// What an entry weighs besides its payload.
    public static let overhead = 128
}

/// What is known about a payload. Times are wall time; everything an origin does not name stays nil.
public struct Metadata: Hashable, Sendable {
    /// When the payload came from the origin.
    public var fetchedAt: Timestamp
    /// When the origin last said that the payload is still current.
    public var validatedAt: Timestamp?
    /// The origin's tag of this version, for asking again under a condition.
    public var etag: String?
    /// The origin's date of this version, for asking again under a condition.
    public var lastModified: String?
    /// The payload's media type.
    public var contentType: String?
    /// Names under which entries can be cleared together.
    public var tags: [String]
    /// The number that validator `entry-version` stamped on the entry.
    public var version: Int?
    /// What validator `checksum` computed when the payload arrived.
    public var checksum: UInt64?
    /// A number in 0 ..< 1 drawn when the payload arrived, so that entries saved together need not expire together.
    public var spread: Double

    /// Metadata of a payload that was fetched at `fetchedAt`.
    public init(
        fetchedAt: Timestamp = Timestamp(nanoseconds: 0), validatedAt: Timestamp? = nil, etag: String? = nil,
        lastModified: String? = nil, contentType: String? = nil, tags: [String] = [], version: Int? = nil,
        checksum: UInt64? = nil, spread: Double = 0
    ) {
        self.fetchedAt = fetchedAt
        self.validatedAt = validatedAt
        self.etag = etag
        self.lastModified = lastModified
        self.contentType = contentType
        self.tags = tags
        self.version = version
        self.checksum = checksum
        self.spread = spread
    }

    /// How old the payload is: the time since it was last validated, or else fetched. Negative for an entry from the future.
    public func age(at now: Timestamp) -> Duration {
        now - (validatedAt ?? fetchedAt)
    }

    /// Whether the origin can be asked "has it changed since?"
    public var hasCondition: Bool { etag != nil || lastModified != nil }
}
