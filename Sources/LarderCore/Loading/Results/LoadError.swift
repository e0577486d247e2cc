import LarderFoundation

/// The error of a load that returned no value.
///
/// ``code`` is the kind of the failure. ``origin`` is the error that the origin threw, and ``store`` is the error that
/// a store threw during the same load. The message never holds a key, a parameter or a payload.
public struct LoadError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure. Later versions may add kinds.
    @nonexhaustive public enum Code: String, CaseIterable, Sendable {
        /// The origin answered with an error. Once the origin is asked, no copy takes its place.
        case answer
        /// The origin failed.
        case failed
        /// The origin took longer than a `timeout` allows.
        case timeout
        /// The origin was not asked because a breaker is open or a limit is reached.
        case unavailable
        /// The origin's payload does not decode.
        case undecodable
        /// A validator did not admit the payload.
        case refused
        /// There is no copy that may be shown, and the request did not allow asking the origin.
        case notCached
        /// The account of the request is not signed in. Once the origin is asked, no copy takes its place.
        case notSignedIn
        /// The caller's own deadline passed.
        case deadline
        /// The origin cannot be asked because of the request: it lacks a parameter, or has one that the origin does not
        /// take. It is a mistake of the caller.
        case invalidRequest
        /// There is no resource with this name.
        case noSuchResource
    }

    private enum Content: Sendable {
        case message(String)
        case event(Trail.Event)
    }

    /// Holds the reply behind a reference, so that errors without one stay small.
    private final class ReplyBox: Sendable {
        let reply: Reply

        init(_ reply: Reply) { self.reply = reply }
    }

    /// The kind of the failure.
    public var code: Code
    private var content: Content
    /// A description of the failure.
    public var message: String {
        get {
            switch content {
            case .message(let message): message
            case .event(let event): event.description
            }
        }
        set { content = .message(newValue) }
    }
    /// The HTTP-like status of the origin's answer; nil if there is none.
    public var status: Int?
    /// The origin's answer, for apps that show the service's own explanation; nil if the origin passed none on. Larder
    /// writes none of it to messages, trails, logs or dumps.
    public var reply: Reply? {
        get { replyBox?.reply }
        set { replyBox = newValue.map(ReplyBox.init) }
    }
    private var replyBox: ReplyBox?
    /// The time for which the origin asked for no further calls; nil if it did not ask.
    public var retryAfter: Duration?
    /// The reason why an exchange with a server failed; nil if the error is about something else.
    public var cause: Cause?
    /// The error that the origin threw; nil if it threw none.
    public var origin: (any Error)?
    /// The error that a store threw during the same load; nil if it threw none.
    public var store: (any Error)?
    /// Whether there was a copy that the validators did not allow to be shown.
    package var copyRefused = false
    /// The window after the end of freshness, in nanoseconds, in which that copy would have been shown. Nil if the copy
    /// was refused for another reason, too.
    package var neededWindow: Int64?
    /// The decisions that led to the failure.
    public var trail = Trail()

    /// Creates a failure with this code.
    public init(
        _ code: Code, _ message: String, status: Int? = nil, retryAfter: Duration? = nil, cause: Cause? = nil,
        origin: (any Error)? = nil
    ) {
        self.init(code, content: .message(message), status: status, retryAfter: retryAfter, origin: origin)
        self.cause = cause
    }

    /// Creates a failure with this code. Its message is the description of `event`.
    public init(
        _ code: Code, _ event: Trail.Event, status: Int? = nil, retryAfter: Duration? = nil,
        origin: (any Error)? = nil
    ) {
        self.init(code, content: .event(event), status: status, retryAfter: retryAfter, origin: origin)
    }

    private init(
        _ code: Code, content: Content, status: Int?, retryAfter: Duration?, origin: (any Error)?
    ) {
        self.code = code
        self.content = content
        self.status = status
        self.retryAfter = retryAfter
        self.origin = origin
    }

    /// The failure as an event of a trail: the event that the failure was created with, or else an event of the kind
    /// `failed`. Its facts include the code, and the status and the cause if there are any.
    public var event: Trail.Event {
        let event =
            switch content {
            case .message(let message): Trail.Event(.failed, Trail.Words(message))
            case .event(let event): event
            }
        return event.knowing(code, status: status, cause: cause)
    }

    /// Returns an error that is the origin's answer. The caller gets it even if there is a copy. It is not retried, and
    /// breakers do not count it. For the statuses 404 and 410 the copy is removed.
    public static func answer(status: Int? = nil, _ message: String = "the origin says no") -> LoadError {
        LoadError(.answer, message, status: status)
    }

    /// Returns the error for an HTTP-like status. 408, 425, 429 and 5xx are failures. All other 4xx are answers.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - retryAfter: the time for which the origin asked for no further calls.
    ///   - reply: the answer, for apps that show the service's own explanation.
    public static func status(_ status: Int, retryAfter: Duration? = nil, reply: Reply? = nil) -> LoadError {
        let isAnswer = (400..<500).contains(status) && ![408, 425, 429].contains(status)
        var error = LoadError(
            isAnswer ? .answer : .failed, Trail.Event(.failed, "the origin answered \(.status, status)"),
            status: status,
            retryAfter: retryAfter)
        error.reply = reply
        return error
    }

    /// The error of a load when the caller's deadline passes before there is a value.
    package static var overdue: LoadError { LoadError(.deadline, "the caller's deadline passed") }

    /// The error of a load that finds no copy and does not ask the origin.
    public static var notCached: LoadError { LoadError(.notCached, "not cached") }

    /// The error of a resource that gets a request for another one.
    static var otherResource: LoadError { LoadError(.noSuchResource, "the request is for another resource") }

    /// Whether the error is an answer and not a failure: the origin's own, that the account of the request is not signed in,
    /// or that the request is wrong. It is never tried again, and no copy or fallback takes its place.
    public var isAnswer: Bool { code == .answer || isWithoutCall }

    /// Whether the origin was not asked because of the request or its account. It says nothing about the origin.
    package var isWithoutCall: Bool { code == .notSignedIn || code == .invalidRequest }

    /// Whether the answer says that the requested data no longer exists, so that the copy must be removed.
    package var saysGone: Bool { code == .answer && (status == 404 || status == 410) }

    /// Returns `error` if it is a ``LoadError``, or else a failure of the origin that contains it.
    ///
    /// The message has ``name(of:)`` in place of the foreign error's text, because that text may hold a secret.
    ///
    /// - Returns: nil for a `CancellationError`.
    public static func meaning(of error: any Error) -> LoadError? {
        if let error = error as? LoadError { return error }
        if error is CancellationError { return nil }
        return LoadError(.failed, "failed with \(name(of: error))", origin: error)
    }

    /// Returns a name for a foreign error that contains no part of its text. The name consists of the type and, for
    /// errors of Foundation, the domain and the code: `URLError -1001`, `NSError NSPOSIXErrorDomain 111`.
    public static func name(of error: any Error) -> String {
        func number<Code: RawRepresentable>(_ code: Code) -> Code.RawValue { code.rawValue }
        // Without all of Foundation, `_domain` and `_code` do not work for these two types.
        let type = type(of: error)
        if type == CocoaError.self, let error = error as? CocoaError { return "\(type) \(number(error.code))" }
        if type == POSIXError.self, let error = error as? POSIXError { return "\(type) \(number(error.code))" }
        // `_domain` and `_code` give the domain and the code of an `NSError` without importing all of Foundation. For a
        // plain Swift error, the domain is its type and the code is the number of its case.
        let (domain, code) = (error._domain, error._code)
        if domain == String(reflecting: type) { return "\(type)" }
        if domain.contains("\(type)") { return "\(type) \(code)" }
        let isPlain = { (letter: Character) in
            letter.isASCII && (letter.isLetter || letter.isNumber || "._-".contains(letter))
        }
        return "\(type) \(String(domain.filter(isPlain).prefix(64))) \(code)"
    }

    /// Returns the failure for an error that an origin threw. An origin that throws `CancellationError` has failed too,
    /// unless the task is cancelled.
    ///
    /// - Returns: nil if the task is cancelled. An error that is thrown then is not a failure of the origin.
    public static func failure(_ error: any Error) -> LoadError? {
        if Task.isCancelled { return nil }
        return meaning(of: error)
            ?? LoadError(.failed, "it threw CancellationError without being cancelled", origin: error)
    }

    /// The message.
    public var description: String { message }
}
