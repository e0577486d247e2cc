#if canImport(Darwin)
    import Foundation
    import LarderSystem
    import LarderCore

    /// The delegate of a `URLSession`, which passes each event to the exchange that it concerns.
    final class URLSessionEvents: NSObject, URLSessionDataDelegate, Sendable {
        typealias Disposition = URLSession.AuthChallengeDisposition

        private let trust: HTTPTrust
        private let exchanges = Locked<[Int: URLSessionExchange]>([:])

        init(_ trust: HTTPTrust) {
            self.trust = trust
        }

        /// Passes the events of a task to its exchange until the task is complete.
        func add(_ exchange: URLSessionExchange, of task: URLSessionTask) {
            exchanges.withLock { $0[task.taskIdentifier] = exchange }
        }

        private func exchange(of task: URLSessionTask) -> URLSessionExchange? {
            exchanges.withLock { $0[task.taskIdentifier] }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
        ) {
            if let response = response as? HTTPURLResponse {
                exchange(of: dataTask)?.arrived(status: response.statusCode, fields: response.allHeaderFields)
            }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            exchange(of: dataTask)?.received(data)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            exchange?.completed(error.map { HTTPFailure($0) })
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping (CachedURLResponse?) -> Void
        ) {
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping (Disposition, URLCredential?) -> Void
        ) {
            if let server = challenge.protectionSpace.serverTrust, let authorities = trust.authorities {
                do {
                    try PrivateAuthorities(path: authorities).check(server)
                    return completionHandler(.useCredential, URLCredential(trust: server))
                } catch {
                    exchange(of: task)?.end(error)
                    return completionHandler(.cancelAuthenticationChallenge, nil)
                }
            }
            // There are no credentials, so that an answer of 401 is delivered as it is.
            completionHandler(.performDefaultHandling, nil)
        }
    }
#endif
