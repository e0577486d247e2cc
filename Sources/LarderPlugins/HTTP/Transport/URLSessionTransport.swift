#if canImport(Darwin)
    import Foundation
    import LarderSystem
    import LarderCore

    /// The transport of Apple platforms, which sends requests with `URLSession`.
    ///
    /// `URLSession` tells neither when a connection is ready nor which version of HTTP it speaks. So the limit for
    /// connecting is part of the limit for the first byte, and the version of answers is empty. Fields of the same name
    /// arrive joined by commas, and the order of fields is lost.
    final class URLSessionTransport: HTTPTransport {
        static var limitsConnecting: Bool { false }

        var keepsLimits: Bool { true }

        private let world: any World
        private let connectionsPerHost: Int
        /// One session for each set of authorities, because the requests of a session share connections.
        private let sessions = Locked<[HTTPTrust: URLSession]>([:])

        /// Creates a transport.
        ///
        /// - Parameters:
        ///   - world: the world whose alarms enforce the limits of requests.
        ///   - connectionsPerHost: the largest number of connections to one host.
        init(world: any World, connectionsPerHost: Int) {
            self.world = world
            self.connectionsPerHost = connectionsPerHost
        }

        deinit {
            // A session keeps its delegate until it is invalidated. Bodies that are being read still arrive.
            for session in sessions.withLock({ $0.values }) { session.finishTasksAndInvalidate() }
        }

        func send(
            _ request: HTTPRequest, within limits: HTTPLimits, trusting trust: HTTPTrust
        ) async throws -> HTTPAnswer {
            try request.check()
            let urlRequest = try Self.urlRequest(request)
            try Task.checkCancellation()
            let session = session(trusting: trust)
            let (task, queue) = (session.dataTask(with: urlRequest), session.delegateQueue)
            let exchange = URLSessionExchange(
                URLSessionExchange.Actions(
                    resume: { task.resume() }, suspend: { task.suspend() }, cancel: { task.cancel() },
                    enqueue: { queue.addOperation($0) }),
                method: request.method)
            (session.delegate as? URLSessionEvents)?.add(exchange, of: task)
            exchange.start(within: limits, of: world)
            return try await withTaskCancellationHandler {
                try await exchange.pending.answer()
            } onCancel: {
                exchange.cancel()
            }
        }

        private func session(trusting trust: HTTPTrust) -> URLSession {
            if let session = sessions.withLock({ $0[trust] }) { return session }
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let new = URLSession(
                configuration: configuration, delegate: URLSessionEvents(trust), delegateQueue: queue)
            let session = sessions.withLock { sessions in
                let session = sessions[trust] ?? new
                sessions[trust] = session
                return session
            }
            // Another thread was faster.
            if session !== new { new.finishTasksAndInvalidate() }
            return session
        }

        private var configuration: URLSessionConfiguration {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = nil
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.httpCookieAcceptPolicy = .never
            configuration.urlCredentialStorage = nil
            configuration.httpMaximumConnectionsPerHost = connectionsPerHost
            // Alarms enforce the limits of each request.
            configuration.timeoutIntervalForRequest = Self.forever
            configuration.timeoutIntervalForResource = Self.forever
            return configuration
        }

        private static let forever: TimeInterval = 7 * 86_400

        private static func urlRequest(_ request: HTTPRequest) throws -> URLRequest {
            guard let url = URL(string: request.url, encodingInvalidCharacters: false), url.host() != nil else {
                throw HTTPFailure(.other, "the URL is not valid")
            }
            guard url.user() == nil, url.password() == nil else {
                throw HTTPFailure(.other, "the URL contains a user name or a password")
            }
            // There is no cache. The policies that ignore one would add fields to the request.
            var result = URLRequest(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: forever)
            result.httpMethod = request.method
            result.httpBody = request.body
            result.httpShouldHandleCookies = false
            for field in request.fields { result.addValue(field.value, forHTTPHeaderField: field.name) }
            // URLSession would add the device's languages, unseen by the rules that tell variants of an answer apart.
            if result.value(forHTTPHeaderField: "Accept-Language") == nil {
                result.setValue("*", forHTTPHeaderField: "Accept-Language")
            }
            return result
        }
    }
#endif
