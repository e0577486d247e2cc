extension LoadError {
    /// The reason why an exchange with a server brought no answer that can be used. Later versions may add reasons.
    ///
    /// ```swift
    /// catch let error as LoadError where error.cause == .noAddress { showOfflineHint() }
    /// ```
    @nonexhaustive public enum Cause: String, Sendable {
        /// The name of the server has no address.
        case noAddress
        /// No connection to the server could be made: there is no network, or the server refused it.
        case noConnection
        /// The server could not prove its identity, or no secure connection could be made.
        case tls
        /// The proxy did not pass the request on.
        case proxy
        /// The connection took longer than its limit.
        case connectTimeout
        /// The first byte of the answer took longer than its limit.
        case firstByteTimeout
        /// The call took longer than its limit.
        case timeout
        /// The connection ended before the answer was complete.
        case reset
        /// The answer breaks the rules of HTTP.
        case malformed
        /// The answer is larger than allowed.
        case tooLarge
        /// The server's redirect may not be followed.
        case redirect
        /// Any other reason.
        case other
    }
}

extension Trail.Event {
    /// Returns the event with the facts of a failure.
    func knowing(_ code: LoadError.Code, status: Int?, cause: LoadError.Cause?) -> Trail.Event {
        var event = self
        if let status { event = event.knowing(.status, status) }
        if let cause { event = event.knowing(.cause, cause) }
        return event.knowing(.code, code)
    }
}
