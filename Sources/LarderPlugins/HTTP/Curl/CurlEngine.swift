#if canImport(Glibc) || canImport(Musl)
    import CLarder
    import LarderSystem
    import LarderCore

    /// The exchanges that run at the same time, and their thread. The thread goes on with them when bytes arrive or
    /// time passes.
    ///
    /// A request is sent on the thread that starts it if there is no other one: to wake a thread for it would take longer
    /// than to send it. The engine's thread starts with the first exchange and ends when the engine is closed.
    ///
    /// `@unchecked Sendable`: `inbox` is locked. Everything else that can change is used by the thread alone that holds
    /// `turn`.
    final class CurlEngine: @unchecked Sendable {
        let curl: CurlLibrary
        /// The largest number of requests that run at once with a server where a connection carries many.
        private let streams: Int
        private let world: any World
        private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool
        private let multi: CurlLibrary.Handle
        private let sockets: CurlSockets
        private let inbox = Locked(CurlInbox())
        /// Held by the thread that uses libcurl.
        private let turn = BlockingLock(())

        private var handles = CurlHandlePool()
        private var queues: ServerQueues
        private var exchanges: [UInt64: CurlExchange] = [:]
        /// The exchanges whose heads may have arrived in this round.
        private var deliverable: [CurlExchange] = []
        /// No limit of an exchange passes before this uptime.
        private var nextEnd = Duration.forever

        /// Creates an engine without a thread.
        ///
        /// - Parameters:
        ///   - connectionsPerHost: the largest number of connections to one server.
        ///   - startThread: starts a thread that does some work. Returns false if the system has no thread left.
        /// - Throws: ``SystemLibrary/Failure`` if the system has no memory or no descriptors left.
        init(
            _ curl: CurlLibrary, world: any World, connectionsPerHost connections: Int,
            startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = SystemThread.start
        ) throws(SystemLibrary.Failure) {
            guard let sockets = CurlSockets() else {
                throw SystemLibrary.Failure("libcurl cannot be used: the process may open no more files")
            }
            guard let multi = curl.makeMulti() else {
                throw SystemLibrary.Failure("libcurl cannot be used: no memory is left")
            }
            (self.curl, self.multi, self.sockets, self.world) = (curl, multi, sockets, world)
            self.startThread = startThread
            queues = ServerQueues(limit: connections)
            streams = max(100, connections)
            sockets.attach(to: multi, of: curl)
            _ = larder_curl_multi_set_long(curl.setMulti, multi, .maxHostConnections, max(1, connections))
            // The connections that are kept while nobody uses them.
            _ = larder_curl_multi_set_long(curl.setMulti, multi, .maxConnections, max(32, connections))
        }

        deinit { if !inbox.withLock({ $0.isStarted }) { release() } }

        /// The uptime now.
        var uptime: Duration { world.uptime }

        /// Called by an exchange when its head has arrived.
        func headArrived(of exchange: CurlExchange) { deliverable.append(exchange) }

        // MARK: From any thread

        /// Returns a number for an exchange.
        func nextNumber() -> UInt64 { inbox.withLock { $0.nextNumber() } }

        /// Starts an exchange. It fails if there is no thread and none can be started.
        func start(_ exchange: CurlExchange) {
            switch inbox.withLock({ $0.start(exchange) }) {
            case .nothing: break
            case .thread: if !startThread({ self.run() }) { failToStart() }
            case .work(let isIdle):
                // Where a library may wait for a look-up, only the engine's thread does.
                if !isIdle || !curl.leavesLookUps || !workHere() { sockets.wake() }
            }
        }

        /// Sends the requests that wait on this thread. Returns false if another thread uses libcurl.
        private func workHere() -> Bool {
            turn.tryLock { _ in BrokenPipe.ignoring { work(CurlSockets.noneReady) } } != nil
        }

        /// Ends the exchanges that no thread takes care of. The next request tries again to start one.
        private func failToStart() {
            for exchange in inbox.withLock({ $0.failToStart() }) {
                exchange.fail(HTTPFailure(.other, "the system has no thread left"))
            }
        }

        /// Lets an exchange go on that has paused.
        func resume(_ number: UInt64) { post(.resume(number)) }

        /// Ends an exchange, if it has not ended. Nothing is told about it.
        func cancel(_ number: UInt64) { post(.cancel(number)) }

        private func post(_ command: CurlInbox.Command) {
            if inbox.withLock({ $0.add(command) }) { sockets.wake() }
        }

        /// Ends the thread. There must be no exchanges, and none may be started any more.
        func close() {
            inbox.withLock { $0.isClosed = true }
            sockets.wake()
        }

        // MARK: The engine's thread

        private func run() {
            var ready = CurlSockets.noneReady
            while !inbox.withLock({ $0.isClosed }) {
                turn.withLock { _ in
                    inbox.withLock { $0.isWorking = true }
                    work(ready)
                }
                ready = sockets.wait()
            }
            turn.withLock { _ in release() }
        }

        // MARK: The thread at work

        /// Goes on with the exchanges whose sockets are ready or limits have passed, and with those that commands
        /// concern. Returns when there are no more commands.
        private func work(_ ready: CurlSockets.Ready) {
            var running: Int32 = 0
            for one in ready where sockets.isSocket(one.descriptor) {
                _ = curl.act(multi, one.descriptor, one.directions, &running)
            }
            while true {
                carryOutCommands()
                act()
                let isOver = inbox.withLock { $0.stop(hasExchanges: !exchanges.isEmpty) }
                if isOver { return }
            }
        }

        /// Lets libcurl do what the time makes possible, such as to send requests, and hands over what has arrived.
        private func act() {
            var (running, milliseconds): (Int32, Int) = (0, -1)
            // libcurl may ask to be called again at once, but not for ever.
            for _ in 0..<32 {
                let hasFinished = endFinished()
                if nextEnd <= uptime { endOverdue() }
                deliver()
                _ = curl.getTimeout(multi, &milliseconds)
                if milliseconds != 0, !hasFinished { break }
                if milliseconds == 0 { _ = curl.act(multi, -1, 0, &running) }
            }
            let now = uptime
            let next = milliseconds < 0 ? .forever : now + .milliseconds(milliseconds)
            sockets.wake(at: exchanges.isEmpty ? next : min(next, nextEnd), now: now)
        }

        private func carryOutCommands() {
            for command in inbox.withLock({ $0.take() }) {
                switch command {
                case .start(let exchange):
                    exchanges[exchange.number] = exchange
                    if queues.add(exchange.number, to: exchange.server) { begin(exchange) }
                    nextEnd = min(nextEnd, exchange.end)
                case .resume(let number):
                    guard let exchange = exchanges[number], !exchange.resume() else { continue }
                    exchange.finish(23)
                    remove(exchange)
                case .cancel(let number): if let exchange = exchanges[number] { remove(exchange) }
                }
            }
        }

        /// Begins an exchange whose turn has come, or else the one whose turn is next.
        private func begin(_ exchange: CurlExchange) {
            var next: CurlExchange? = exchange
            while let exchange = next, !add(exchange) {
                exchange.fail(HTTPFailure(.other, "libcurl has no memory left"))
                exchanges[exchange.number] = nil
                next = queues.end(at: exchange.server).flatMap { exchanges[$0] }
            }
        }

        /// Gives libcurl the request of an exchange. Returns false if libcurl cannot take it.
        private func add(_ exchange: CurlExchange) -> Bool {
            guard let handle = handles.take(of: curl) else { return false }
            exchange.begin(on: handle)
            nextEnd = min(nextEnd, exchange.end)
            if curl.add(multi, handle.pointer) == 0 { return true }
            _ = exchange.detach(handle.pointer)
            curl.endEasy(handle.pointer)
            return false
        }

        /// Ends the exchanges that libcurl has finished. Returns false if there are none.
        private func endFinished() -> Bool {
            var left: Int32 = 0
            var hasFinished = false
            while let message = curl.readMessage(multi, &left)?.pointee {
                var context: UnsafeMutableRawPointer?
                guard message.kind == 1,
                    larder_curl_get_pointer(curl.getEasy, message.handle, .private, &context) == 0,
                    let exchange = CurlExchange.of(context)
                else { continue }
                exchange.finish(message.data.result)
                remove(exchange)
                hasFinished = true
            }
            return hasFinished
        }

        /// Gives the answers whose heads have arrived to those that wait for them. The bytes that came with a head are
        /// given in the same go, so that a small answer arrives whole.
        private func deliver() {
            for exchange in deliverable {
                if exchange.isMultiplexed {
                    for next in queues.raiseLimit(to: streams, at: exchange.server) {
                        if let next = exchanges[next] { begin(next) }
                    }
                }
                exchange.deliver()
            }
            deliverable.removeAll(keepingCapacity: true)
        }

        private func endOverdue() {
            let now = uptime
            // The end of one lets the next begin, which may end there and then.
            for exchange in exchanges.values.filter({ $0.end <= now }) where exchanges[exchange.number] != nil {
                exchange.finishOverdue()
                remove(exchange)
            }
            nextEnd = exchanges.values.map(\.end).min() ?? .forever
        }

        private func remove(_ exchange: CurlExchange) {
            exchanges[exchange.number] = nil
            // Without a handle, it still waits.
            guard let handle = exchange.handle else { return queues.remove(exchange.number, from: exchange.server) }
            _ = curl.remove(multi, handle)
            if handles.isFull { curl.endEasy(handle) } else { handles.keep(exchange.detach(handle)) }
            if let next = queues.end(at: exchange.server).flatMap({ exchanges[$0] }) { begin(next) }
        }

        private func release() {
            handles.release(of: curl)
            _ = curl.endMulti(multi)
        }
    }
#endif
