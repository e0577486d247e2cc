#if canImport(Glibc) || canImport(Musl)
    import LarderSystem
    import LarderCore

    /// A transport that uses libcurl.
    ///
    /// A thread takes care of all exchanges. It starts with the first one and ends when this object and the bodies of all
    /// answers are gone. A request that is alone is sent on its own task's thread. Connections are kept for later requests and shared by requests where HTTP/2 allows it.
    final class CurlTransport: HTTPTransport {
        static var limitsConnecting: Bool { true }

        private let engine: CurlEngine

        var keepsLimits: Bool { engine.curl.leavesLookUps }

        /// Creates a transport.
        ///
        /// - Parameters:
        ///   - world: the world whose uptime limits are measured with.
        ///   - connectionsPerHost: the largest number of connections to one server. Further requests wait.
        /// - Throws: ``SystemLibrary/Failure`` if libcurl is missing or too old, or cannot be used.
        init(world: any World, connectionsPerHost: Int) throws(SystemLibrary.Failure) {
            engine = try CurlEngine(CurlLibrary(), world: world, connectionsPerHost: connectionsPerHost)
        }

        /// Creates a transport that uses an engine, which ends with it.
        init(_ engine: CurlEngine) {
            self.engine = engine
        }

        deinit {
            engine.close()
        }

        func send(
            _ request: HTTPRequest, within limits: HTTPLimits, trusting trust: HTTPTrust
        ) async throws -> HTTPAnswer {
            try request.check()
            try Task.checkCancellation()
            let pending = PendingAnswer()
            let number = start(request, within: limits, trusting: trust, answering: pending)
            return try await withTaskCancellationHandler {
                try await pending.answer()
            } onCancel: {
                pending.fail(CancellationError())
                engine.cancel(number)
            }
        }

        /// Starts an exchange and returns its number.
        private func start(
            _ request: HTTPRequest, within limits: HTTPLimits, trusting trust: HTTPTrust,
            answering pending: PendingAnswer
        ) -> UInt64 {
            let number = engine.nextNumber()
            // The closures keep the transport alive until the exchange has ended.
            let control = HTTPBody.Control {
                self.engine.resume(number)
            } cancel: {
                self.engine.cancel(number)
            }
            let exchange = CurlExchange(
                request, number: number, in: engine, within: limits, trusting: trust, answering: pending,
                control)
            engine.start(exchange)
            return number
        }
    }
#endif
