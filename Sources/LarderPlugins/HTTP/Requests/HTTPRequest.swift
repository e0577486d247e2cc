public import LarderFoundation
public import LarderCore

/// A request as it is sent to an HTTP server.
///
/// It may contain credentials, so its description shows only the method.
public struct HTTPRequest: Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The absolute URL. Characters that URLs do not allow are percent-encoded.
    public var url: String
    /// The header fields, in the order in which they are sent.
    public var fields: [Fields.Field]
    /// The body; nil for none.
    public var body: Data?

    /// Creates a request.
    public init(method: String = "GET", url: String, fields: [Fields.Field] = [], body: Data? = nil) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}

extension HTTPRequest: CustomStringConvertible, CustomReflectable {
    /// The method.
    public var description: String { method }

    /// A mirror that shows only the method.
    public var customMirror: Mirror { Mirror(self, children: ["method": method]) }
}

/// The limits of an exchange with a server.
struct HTTPLimits: Hashable, Sendable {
    /// The longest time until the connection can be used, with its name lookup and its handshakes.
    var connect: Duration
    /// The longest time until the first byte of the answer.
    var firstByte: Duration
    /// The longest time until the last byte of the answer.
    var whole: Duration
    /// The largest body, in bytes, after decoding.
    var capacity: Int
}

/// The certificates that a server may have.
struct HTTPTrust: Hashable, Sendable {
    /// The path of a file with the only authorities that are trusted, in PEM; nil for the system's.
    var authorities: String?
}
