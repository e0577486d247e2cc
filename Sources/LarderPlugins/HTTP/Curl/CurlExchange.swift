import LarderSystem

#if canImport(Glibc) || canImport(Musl)
    import CLarder
    import LarderCore

    /// One exchange with a server: a handle of libcurl with its request, and what has arrived of the answer.
    ///
    /// `@unchecked Sendable`: the sending task makes it and hands it to the engine. From then on only the thread that holds
    /// the engine's turn uses it.
    final class CurlExchange: @unchecked Sendable {
        let number: UInt64
        /// The scheme, host and port.
        let server: String
        /// The handle; nil while the request waits for its turn.
        private(set) var handle: CurlLibrary.Handle?
        /// The options with which the handle can be used again; nil if it must be reset.
        private var setup: CurlHandle.Setup?
        private var request: HTTPRequest?
        private let limits: HTTPLimits
        private let trust: HTTPTrust
        /// The uptimes at which the limits for the first byte and for the whole answer pass.
        private var firstByteEnd = Duration.forever
        private let wholeEnd: Duration

        private unowned let engine: CurlEngine
        private let curl: CurlLibrary
        private let control: HTTPBody.Control
        private let pending: PendingAnswer
        /// The memory that libcurl reads the request from.
        private let memory: CurlRequestMemory

        private var reader = HTTPHeadReader()
        private var head: HTTPHead?
        /// The body until its reader gets it.
        private var ownBody: HTTPBody?
        /// The body after its reader got it. When the reader drops it, the exchange is cancelled.
        private weak var readBody: HTTPBody?
        private var failure: HTTPFailure?
        /// The unpacker of a compressed body.
        private var unpacker: HTTPBodyUnpacker?
        /// The number of bytes of the body that have arrived, as they were sent.
        private var arrived = 0
        private let method: String
        private var timesSent = 0
        private var mustPause = false
        private var isPaused = false

        private var isAnswering = false

        /// The uptime at which the next limit passes.
        var end: Duration { isAnswering ? wholeEnd : min(firstByteEnd, wholeEnd) }

        /// Whether the server answers with a version of HTTP in which a connection carries many requests at once.
        var isMultiplexed: Bool { head.map { !$0.version.hasPrefix("1") } ?? false }

        /// Creates an exchange with a request, which ``HTTPRequest/check()`` has accepted.
        init(
            _ request: HTTPRequest, number: UInt64, in engine: CurlEngine, within limits: HTTPLimits,
            trusting trust: HTTPTrust, answering pending: PendingAnswer, _ control: HTTPBody.Control
        ) {
            (self.request, self.number, self.engine, curl) = (request, number, engine, engine.curl)
            (self.limits, self.trust, self.pending, self.control) = (limits, trust, pending, control)
            (server, method) = (request.server, request.method)
            memory = CurlRequestMemory(engine.curl)
            wholeEnd = engine.uptime + min(limits.whole, .seconds(1 << 31))
        }

        // MARK: The request

        /// Prepares a handle for the request. The caller then lets libcurl begin.
        func begin(on handle: CurlHandle) {
            guard let request else { return }
            (self.handle, self.request) = (handle.pointer, nil)
            firstByteEnd = engine.uptime + min(limits.firstByte, .seconds(1 << 31))
            let setup = CurlHandle.Setup(isSecure: request.url.prefix(6).lowercased() == "https:", trust: trust)
            if handle.setup != setup {
                if handle.setup != nil { curl.resetEasy(handle.pointer) }
                setup.apply(to: handle.pointer, of: curl)
            }
            // The other methods leave options behind.
            if request.method == "GET", request.body == nil { self.setup = setup }
            let context = Unmanaged.passUnretained(self).toOpaque()
            memory.apply(request, to: handle.pointer, connectLimit: limits.connect, context: context)
        }

        /// Returns a handle that has done the exchange, for another one.
        func detach(_ handle: CurlLibrary.Handle) -> CurlHandle {
            if setup == nil {
                curl.resetEasy(handle)
            } else {
                // They end with this object.
                curl.set(.httpHeader, nil, on: handle)
                curl.set(.errorBuffer, nil, on: handle)
            }
            return CurlHandle(pointer: handle, setup: setup)
        }

        // MARK: The answer

        /// Takes a line of the head. The context is the exchange.
        static let receiveLine: CurlDataFunction = { bytes, size, count, context in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlExchange.of(context)?.receive(line: line) == true ? size * count : 0
        }

        /// Takes bytes of the body. The context is the exchange.
        static let receiveBody: CurlDataFunction = { bytes, size, count, context in
            CurlExchange.of(context)?.receive(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
        }

        /// Lets libcurl send the request once. The context is the exchange.
        static let allowSending: CurlPrerequestFunction = { context, _, _, _, _ in
            guard let exchange = CurlExchange.of(context) else { return 1 }
            exchange.timesSent += 1
            return exchange.timesSent == 1 ? 0 : 1
        }

        /// The exchange that libcurl was given as its context.
        static func of(_ context: UnsafeMutableRawPointer?) -> CurlExchange? {
            context.map { Unmanaged<CurlExchange>.fromOpaque($0).takeUnretainedValue() }
        }

        private func receive(line: UnsafeRawBufferPointer) -> Bool {
            isAnswering = true
            do {
                guard head == nil else {
                    // After the head, trailers arrive. They are not used.
                    try HTTPHeadReader.check(trailer: line)
                    return true
                }
                guard let head = try reader.read(line) else { return true }
                if head.isEncoded, !head.hasNoBody(to: method) { unpacker = try HTTPBodyUnpacker(head.codings) }
                (self.head, ownBody) = (head, HTTPBody(capacity: limits.capacity, control))
                engine.headArrived(of: self)
                return true
            } catch {
                failure = error
                return false
            }
        }

        /// Takes bytes of the body. Returns the number of bytes taken, or the number that makes libcurl pause and bring
        /// them again.
        private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
            if mustPause {
                isPaused = true
                return Self.pause
            }
            guard failure == nil, let body = ownBody ?? readBody else { return 0 }
            do throws(HTTPFailure) {
                let (reception, isTaken) = try unpacker?.append(bytes, to: body) ?? (body.append(bytes), true)
                switch reception {
                case .goOn: break
                case .pause: mustPause = true
                case .end: return 0
                }
                guard isTaken else {
                    isPaused = true
                    return Self.pause
                }
            } catch {
                failure = error
                return 0
            }
            arrived += bytes.count
            return bytes.count
        }

        /// The number that makes libcurl pause.
        private static let pause = 0x1000_0001

        /// Goes on after a pause. May receive bytes before it returns. Returns false if bytes were refused.
        func resume() -> Bool {
            mustPause = false
            guard isPaused, let handle else { return true }
            isPaused = false
            return curl.pause(handle, 0) != 23
        }

        /// Gives the answer to the task that awaits it.
        func deliver() {
            guard let head, let body = ownBody else { return }
            readBody = body
            ownBody = nil
            pending.succeed(
                HTTPAnswer(
                    status: head.status, fields: head.decodedFields, version: head.version, isDecoded: head.isEncoded,
                    body: body))
        }

        /// Ends the answer with libcurl's result code.
        func finish(_ code: Int32) {
            if code == 0, failure == nil, let head { return finish(with: isWhole(head) ? nil : .incomplete) }
            // libcurl takes an answer without a complete head for an empty one.
            let code = code == 0 ? 18 : code
            finish(with: failure ?? refusal ?? HTTPFailure(curl: code, memory.errorWords, hasHead: head != nil))
        }

        /// Whether all of the body has arrived that the head and the compressed bytes promise. libcurl alone does not
        /// tell.
        private func isWhole(_ head: HTTPHead) -> Bool {
            if head.hasNoBody(to: method) { return true }
            if let length = head.length, !head.isChunked, length != arrived { return false }
            return unpacker?.isWhole ?? true || arrived == 0 && head.length == 0
        }

        /// Ends an exchange that has not begun.
        func fail(_ failure: HTTPFailure) { pending.fail(failure) }

        /// Ends the answer because a limit has passed.
        func finishOverdue() {
            let isWhole = isAnswering || wholeEnd <= firstByteEnd
            finish(
                with: isWhole
                    ? HTTPFailure(.timeout, "the answer was not complete within the limit")
                    : HTTPFailure(.firstByteTimeout, "no answer within the limit"))
        }

        /// Ends the answer, with a failure or completely.
        private func finish(with failure: HTTPFailure?) {
            if let body = ownBody ?? readBody {
                body.finish(failure)
            } else if let failure {
                pending.fail(failure)
            }
        }

        /// The failure if a proxy refused to make a connection to the server.
        private var refusal: HTTPFailure? {
            var status = 0
            guard !isAnswering, let handle, larder_curl_get_long(curl.getEasy, handle, .connectCode, &status) == 0,
                status >= 300
            else { return nil }
            return HTTPFailure(.proxy, "the proxy refused the connection with status \(status)")
        }
    }
#endif
