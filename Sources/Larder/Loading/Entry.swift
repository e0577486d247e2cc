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

    /// What the entry weighs in a store with a capacity in bytes: the payload, what codecs say its decoded values cost, what
    /// the origin said of it, and a flat sum for the rest.
    public var weight: Int {
        payload.weight + Self.overhead + metadata.length
    }

    /// What counting a hit needs of it.
    package struct Facts {
        /// When it was last known to be current.
        package let since: Int64
        package let size: Int
    }

    package var facts: Facts { Facts(since: metadata.since.nanoseconds, size: payload.size) }

    /// What an entry weighs besides its payload.
    public static let overhead = 128
}

/// What is known about a payload. Times are wall time; everything an origin does not name stays nil.
public struct Metadata: Hashable, Sendable {
    /// When the payload came from the origin.
    public var fetchedAt: Timestamp
    /// When the origin last said that the payload is still current.
    public var validatedAt: Timestamp? {
        get { validated == .min ? nil : Timestamp(nanoseconds: validated) }
        set { validated = newValue?.nanoseconds ?? .min }
    }
    /// In nanoseconds; the least number there is for never.
    private var validated: Int64
    /// The origin's tag of this version, for asking again under a condition.
    public var etag: String? {
        get { said?.words.etag }
        set { say { $0.etag = newValue } }
    }
    /// The origin's date of this version, for asking again under a condition.
    public var lastModified: String? {
        get { said?.words.lastModified }
        set { say { $0.lastModified = newValue } }
    }
    /// The payload's media type.
    public var contentType: String? {
        get { said?.words.contentType }
        set { say { $0.contentType = newValue } }
    }
    /// Names under which entries can be cleared together.
    public var tags: [String] {
        get { said?.words.tags ?? [] }
        set { say { $0.tags = newValue } }
    }
    private var said: Said?
    /// The number that validator `entry-version` stamped on the entry.
    public var version: Int? {
        get { said?.words.version }
        set { say { $0.version = newValue } }
    }
    /// What validator `checksum` computed when the payload arrived.
    public var checksum: UInt64? {
        get { said?.words.checksum }
        set { say { $0.checksum = newValue } }
    }
    /// A number in 0 ..< 1 drawn when the payload arrived, so that entries saved together need not expire together.
    public var spread: Double {
        get { Double(bitPattern: spreadAndMark & ~Self.mark) }
        set { spreadAndMark = spreadAndMark & Self.mark | newValue.magnitude.bitPattern }
    }
    /// Whether the origin has sent a newer payload, which could not be saved. Such a copy is shown when the origin fails,
    /// and is never fresh. See ``Store/expire(_:)``.
    public var isExpired: Bool {
        get { spreadAndMark & Self.mark != 0 }
        set { spreadAndMark = newValue ? spreadAndMark | Self.mark : spreadAndMark & ~Self.mark }
    }
    /// The bits of the spread, whose sign bit is the mark: a field of its own would make every copy of an entry larger.
    private var spreadAndMark: UInt64 = 0
    private static let mark: UInt64 = 1 << 63

    /// Metadata of a payload that was fetched at `fetchedAt`.
    public init(
        fetchedAt: Timestamp = Timestamp(nanoseconds: 0), validatedAt: Timestamp? = nil, etag: String? = nil,
        lastModified: String? = nil, contentType: String? = nil, tags: [String] = [], version: Int? = nil,
        checksum: UInt64? = nil, spread: Double = 0
    ) {
        self.fetchedAt = fetchedAt
        validated = validatedAt?.nanoseconds ?? .min
        self.spread = spread
        say {
            $0 = Words(
                etag: etag, lastModified: lastModified, contentType: contentType, tags: tags, version: version,
                checksum: checksum)
        }
    }

    /// How old the payload is: the time since it was last validated, or else fetched. Negative for an entry from the future.
    public func age(at now: Timestamp) -> Duration {
        .nanoseconds(nanoseconds(at: now))
    }

    /// The same without a division: what hits reckon in.
    func nanoseconds(at now: Timestamp) -> Int64 {
        now.nanoseconds(since: since)
    }

    /// When the payload was last validated, or else fetched.
    var since: Timestamp { validated == .min ? fetchedAt : Timestamp(nanoseconds: validated) }

    /// Whether the origin can be asked "has it changed since?"
    public var hasCondition: Bool { etag != nil || lastModified != nil }

    // MARK: What hits do not look at

    /// What the origin said and validators noted.
    private struct Words: Hashable {
        var etag: String?
        var lastModified: String?
        var contentType: String?
        var tags: [String] = []
        var version: Int?
        var checksum: UInt64?
    }

    /// One reference: hits copy metadata, and each reference in it costs them.
    private final class Said: Hashable, Sendable {
        let words: Words

        init(_ words: Words) { self.words = words }

        static func == (left: Said, right: Said) -> Bool { left === right || left.words == right.words }

        func hash(into hasher: inout Hasher) { hasher.combine(words) }
    }

    private mutating func say(_ change: (inout Words) -> Void) {
        var words = said?.words ?? Words()
        change(&words)
        said = words == Words() ? nil : Said(words)
    }

    /// How long the origin's words are.
    fileprivate var length: Int {
        guard let words = said?.words else { return 0 }
        let texts = [words.etag, words.lastModified, words.contentType].compactMap { $0 } + words.tags
        return texts.reduce(0) { $0 + $1.utf8.count }
    }
}
