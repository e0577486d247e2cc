import LarderCore

/// Sends requests to HTTP servers.
///
/// A transport does nothing by itself: it follows no redirect, adds no credentials, keeps no cookie and has no cache.
protocol HTTPTransport: Sendable {
    /// Whether the time of connecting can be limited by itself. If not, a policy that limits it is refused, and
    /// ``HTTPLimits/connect`` has no effect.
    static var limitsConnecting: Bool { get }

    /// Whether each request ends at its limits, whatever others do.
    var keepsLimits: Bool { get }

    /// Sends a request and returns the answer when its head has arrived. The body arrives as it is read.
    ///
    /// The body is decoded if the server has compressed it. Answers with a status of 1xx are skipped.
    ///
    /// - Throws: ``HTTPFailure`` if there is no answer. `CancellationError` if the task is cancelled, which ends the
    ///   exchange.
    func send(
        _ request: HTTPRequest, within limits: HTTPLimits, trusting trust: HTTPTrust
    ) async throws -> HTTPAnswer
}

/// The answer of an HTTP server.
struct HTTPAnswer: Sendable {
    /// The status.
    var status: Int
    /// The header fields, in the order in which they arrived. Those that describe how the body was compressed are left
    /// out.
    var fields: [Fields.Field]
    /// The version of HTTP, such as `1.1` or `2`.
    var version: String
    /// Whether the body was compressed, and arrives decoded.
    var isDecoded = false
    /// The body.
    let body: HTTPBody
}

/// The reason why there is no answer of an HTTP server, or no whole one.
struct HTTPFailure: Error, Hashable, CustomStringConvertible {
    /// The cause of the failure.
    var cause: LoadError.Cause
    /// A description of the failure. It contains no host, URL, field or payload.
    var description: String

    init(_ cause: LoadError.Cause, _ description: String) {
        self.cause = cause
        self.description = description
    }
}
