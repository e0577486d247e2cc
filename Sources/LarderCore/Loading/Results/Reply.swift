public import LarderFoundation

/// The answer of an origin that led to a ``LoadError``, for apps that show a service's own explanation.
///
/// It may hold private data. Larder writes none of it to messages, trails, logs or dumps, and a description of it shows
/// only the status and the length of the body.
public struct Reply: Hashable, Sendable, ShownByDescription {
    /// The largest length of ``body``, in bytes.
    public static let bodyCapacity = 65_536

    /// The HTTP-like status; nil if there is none.
    public let status: Int?
    /// The fields of the answer that the origin chose to pass on.
    public let fields: Fields
    /// The first bytes of the body, at most ``bodyCapacity``.
    public let body: Data
    /// Whether the body is longer than ``bodyCapacity``.
    public let isTruncated: Bool

    /// Creates a reply with the first ``bodyCapacity`` bytes of `body`.
    public init(status: Int? = nil, fields: Fields = [:], body: Data = Data()) {
        self.status = status
        self.fields = fields
        isTruncated = body.count > Self.bodyCapacity
        // A copy, so that a long body is freed.
        self.body = isTruncated ? Data(Array(body.prefix(Self.bodyCapacity))) : body
    }

    /// The status and the length of the body: `status 404, 312 bytes`.
    public var description: String { (status.map { "status \($0), " } ?? "") + "\(body.count) bytes" }
}
