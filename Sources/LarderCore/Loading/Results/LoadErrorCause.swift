extension LoadError {
    /// The reason why an exchange with a server brought no answer that can be used. Later versions may add reasons.
    ///
    /// ```swift
    /// catch let error as LoadError where error.cause == .noAddress { showOfflineHint() }
    /// ```
    public struct Cause: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case noAddress, noConnection, tls, proxy, connectTimeout, firstByteTimeout, timeout, reset, malformed
            case tooLarge, redirect, other
        }
        private let kind: Kind

        /// The name of the server has no address.
        public static let noAddress = Cause(kind: .noAddress)
        /// No connection to the server could be made: there is no network, or the server refused it.
        public static let noConnection = Cause(kind: .noConnection)
        /// The server could not prove its identity, or no secure connection could be made.
        public static let tls = Cause(kind: .tls)
        /// The proxy did not pass the request on.
        public static let proxy = Cause(kind: .proxy)
        /// The connection took longer than its limit.
        public static let connectTimeout = Cause(kind: .connectTimeout)
        /// The first byte of the answer took longer than its limit.
        public static let firstByteTimeout = Cause(kind: .firstByteTimeout)
        /// The call took longer than its limit.
        public static let timeout = Cause(kind: .timeout)
        /// The connection ended before the answer was complete.
        public static let reset = Cause(kind: .reset)
        /// The answer breaks the rules of HTTP.
        public static let malformed = Cause(kind: .malformed)
        /// The answer is larger than allowed.
        public static let tooLarge = Cause(kind: .tooLarge)
        /// The server's redirect may not be followed.
        public static let redirect = Cause(kind: .redirect)
        /// Any other reason.
        public static let other = Cause(kind: .other)

        private init(kind: Kind) { self.kind = kind }

        /// The reason's name.
        public var description: String { kind.rawValue }
    }
}
