#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Why a load gave no value.
///
/// ``code`` says what kind of failure it is; ``origin`` is the origin's own error, exactly as it was thrown, and
/// ``store`` what a store failed with beside it. The message never holds a key, a parameter or a payload.
public struct LoadError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure. New ones may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable {
            case answer, failed, timeout, unavailable, undecodable, refused, notCached, deadline, noSuchResource
        }
        private let kind: Kind

        /// The origin answered, and the answer is an error: it stands, whatever is cached.
        public static let answer = Code(kind: .answer)
        /// The origin failed.
        public static let failed = Code(kind: .failed)
        /// The origin took longer than a `timeout` allows.
        public static let timeout = Code(kind: .timeout)
        /// The origin was not asked: a breaker is open or a limit reached.
        public static let unavailable = Code(kind: .unavailable)
        /// The origin's payload does not decode.
        public static let undecodable = Code(kind: .undecodable)
        /// A validator did not admit the payload.
        public static let refused = Code(kind: .refused)
        /// Nothing that may be shown is cached, and the origin was not to be asked.
        public static let notCached = Code(kind: .notCached)
        /// The caller's own deadline passed.
        public static let deadline = Code(kind: .deadline)
        /// There is no policy of that name.
        public static let noSuchResource = Code(kind: .noSuchResource)

        /// Every code there is.
        package static var all: [Code] { Kind.allCases.map { Code(kind: $0) } }

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// The kind of the failure.
    public var code: Code
    /// What happened, in words.
    public var message: String
    /// The HTTP-like status the origin gave, if it gave one.
    public var status: Int?
    /// How long the origin asked to be left alone.
    public var retryAfter: Duration?
    /// The origin's own error, as it was thrown.
    public var origin: (any Error)?
    /// What a store failed with during the same load.
    public var store: (any Error)?
    /// Whether there was a copy and the validators refused to let it stand in.
    public var copyRefused = false
    /// The decisions that led here.
    public var trail = Trail()

    /// A failure of the given kind.
    public init(
        _ code: Code, _ message: String, status: Int? = nil, retryAfter: Duration? = nil, origin: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.retryAfter = retryAfter
        self.origin = origin
    }

    /// An error that is the origin's answer: delivered as it is, never masked by a copy, retried or counted by a
    /// breaker. Statuses 404 and 410 also drop the kept copy.
    public static func answer(status: Int? = nil, _ message: String = "the origin says no") -> LoadError {
        LoadError(.answer, message, status: status)
    }

    /// The error an HTTP-like status means: 408, 425, 429 and 5xx are failures, every other 4xx is an answer.
    public static func status(_ status: Int, retryAfter: Duration? = nil) -> LoadError {
        let isAnswer = (400..<500).contains(status) && ![408, 425, 429].contains(status)
        return LoadError(
            isAnswer ? .answer : .failed, "the origin answered \(status)", status: status, retryAfter: retryAfter)
    }

    /// Whether this is the origin's answer and not its failure.
    public var isAnswer: Bool { code == .answer }

    /// Whether the answer says that the thing is gone, so that the copy must go too.
    public var saysGone: Bool { isAnswer && (status == 404 || status == 410) }

    /// What `error` means to a load: itself if it is a ``LoadError``, a failure of the origin if it is anything else.
    ///
    /// The text of a foreign error is left out, for it may hold a secret; ``name(of:)`` stands for it.
    ///
    /// - Returns: nil for cancellation, which is neither.
    public static func meaning(of error: any Error) -> LoadError? {
        if let error = error as? LoadError { return error }
        if error is CancellationError { return nil }
        return LoadError(.failed, "failed with \(name(of: error))", origin: error)
    }

    /// What a foreign error can be called without showing its text: its type, and the code and domain of an error of
    /// Foundation's kind, as in `URLError -1001` or `NSError NSPOSIXErrorDomain 111`.
    public static func name(of error: any Error) -> String {
        func number<Code: RawRepresentable>(_ code: Code) -> Code.RawValue { code.rawValue }
        // Without all of Foundation these two do not tell their codes as others do.
        let type = type(of: error)
        if type == CocoaError.self, let error = error as? CocoaError { return "\(type) \(number(error.code))" }
        if type == POSIXError.self, let error = error as? POSIXError { return "\(type) \(number(error.code))" }
        // This is how `NSError` and its like tell domain and code to a program that does not import all of Foundation. A
        // plain Swift error has its type for a domain, and the number of its case for a code.
        let (domain, code) = (error._domain, error._code)
        if domain == String(reflecting: type) { return "\(type)" }
        if domain.contains("\(type)") { return "\(type) \(code)" }
        let isPlain = { (letter: Character) in
            letter.isASCII && (letter.isLetter || letter.isNumber || "._-".contains(letter))
        }
        return "\(type) \(String(domain.filter(isPlain).prefix(64))) \(code)"
    }

    /// What `error`, thrown by an origin, means to the one who called it: also an origin that cancels itself has failed.
    ///
    /// - Returns: nil when the task is cancelled; whatever an origin throws then, it did not fail.
    static func failure(_ error: any Error) -> LoadError? {
        if Task.isCancelled { return nil }
        return meaning(of: error) ?? LoadError(.failed, "cancelled itself", origin: error)
    }

    /// The message.
    public var description: String { message }
}
