#if canImport(Glibc) || canImport(Musl)
    import CLarder
    import LarderBase
    import LarderCore
    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// A thread with the exchanges that run on it. It starts with the first exchange and ends when the engine is closed.
    ///
    /// `@unchecked Sendable`: `inbox` is locked. Everything else that can change is used by the engine's thread alone.
    final class CurlEngine: @unchecked Sendable {
        /// An order to the engine's thread.
        private enum Command {
            case start(CurlExchange)
            case resume(UInt64)
            case cancel(UInt64)
        }

        private struct Inbox {
            var commands: [Command] = []
            var lastNumber: UInt64 = 0
            /// Whether the thread sleeps, or is about to, and must be woken for a command.
            var isAsleep = false
            /// Whether there is a thread, or one is being started.
            var isStarted = false
            var isClosed = false
        }

        /// The number of handles that are kept for further exchanges.
        private static let mostSpare = 64

        let curl: CurlLibrary
        /// The largest number of requests that run at once with a server where a connection carries many.
        private let streams: Int
        private let world: any World
        private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool
        private let multi: CurlLibrary.Handle
        /// The descriptor that wakes the thread. One of libcurl's own would cost several system calls more.
        private let event: Int32
        private let inbox = Locked(Inbox())

        private var spare: [CurlHandle] = []
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
            guard let multi = curl.makeMulti() else {
                throw SystemLibrary.Failure("libcurl cannot be used: no memory is left")
            }
            event = larder_make_event()
            guard event >= 0 else {
                _ = curl.endMulti(multi)
                throw SystemLibrary.Failure("libcurl cannot be used: the process may open no more files")
            }
            (self.curl, self.multi, self.world, self.startThread) = (curl, multi, world, startThread)
            queues = ServerQueues(limit: connections)
            streams = max(100, connections)
            _ = larder_curl_multi_set_long(curl.setMulti, multi, .maxHostConnections, max(1, connections))
            // The connections that are kept while nobody uses them.
            _ = larder_curl_multi_set_long(curl.setMulti, multi, .maxConnections, max(32, connections))
        }

        deinit {
            if !inbox.withLock({ $0.isStarted }) { release() }
            _ = Self.close(event)
        }

        /// The uptime now.
        var uptime: Duration { world.uptime }

        // MARK: From any thread

        /// Returns a number for an exchange.
        func nextNumber() -> UInt64 {
            inbox.withLock { inbox in
                inbox.lastNumber += 1
                return inbox.lastNumber
            }
        }

        /// Starts an exchange. It fails if there is no thread and none can be started.
        func start(_ exchange: CurlExchange) {
            let (isFirst, mustWake) = inbox.withLock { inbox in
                inbox.commands.append(.start(exchange))
                defer { (inbox.isStarted, inbox.isAsleep) = (true, false) }
                return (!inbox.isStarted, inbox.isAsleep)
            }
            if mustWake { wake() }
            if isFirst, !startThread({ self.run() }) { failToStart() }
        }

        /// Ends the exchanges that no thread takes care of. The next request tries again to start one.
        private func failToStart() {
            let commands = inbox.withLock { inbox in
                defer { (inbox.commands, inbox.isStarted) = ([], false) }
                return inbox.commands
            }
            for case .start(let exchange) in commands {
                exchange.fail(HTTPFailure(.other, "the system has no thread left"))
            }
        }

        /// Lets an exchange go on that has paused.
        func resume(_ number: UInt64) { post(.resume(number)) }

        /// Ends an exchange, if it has not ended. Nothing is told about it.
        func cancel(_ number: UInt64) { post(.cancel(number)) }

        private func post(_ command: Command) {
            let mustWake = inbox.withLock { inbox in
                // Without a thread, there are no exchanges.
                if inbox.isStarted { inbox.commands.append(command) }
                defer { inbox.isAsleep = false }
                return inbox.isAsleep
            }
            if mustWake { wake() }
        }

        private func wake() {
            var one: UInt64 = 1
            _ = write(event, &one, 8)
        }

        /// Ends the thread. There must be no exchanges, and none may be started any more.
        func close() {
            let mustWake = inbox.withLock { inbox in
                inbox.isClosed = true
                return inbox.isAsleep
            }
            if mustWake { wake() }
        }

        // MARK: The thread

        private func run() {
            while carryOutCommands() {
                repeat {
                    var running: Int32 = 0
                    _ = curl.perform(multi, &running)
                    // libcurl may forget the timer of a request that could begin now that another one has ended.
                } while endFinished() && !exchanges.isEmpty
                if nextEnd <= uptime { endOverdue() }
                deliver()
                sleep()
            }
            release()
        }

        /// Carries out the commands that have arrived.
        ///
        /// - Returns: false if the engine is closed.
        private func carryOutCommands() -> Bool {
            let (commands, isClosed) = inbox.withLock { inbox in
                inbox.isAsleep = false
                defer { inbox.commands = [] }
                return (inbox.commands, inbox.isClosed)
            }
            for command in commands {
                switch command {
                case .start(let exchange):
                    exchanges[exchange.number] = exchange
                    if queues.add(exchange.number, to: exchange.server) { begin(exchange) }
                    nextEnd = min(nextEnd, exchange.end)
                case .resume(let number): exchanges[number]?.resume()
                case .cancel(let number): if let exchange = exchanges[number] { remove(exchange) }
                }
            }
            return !isClosed
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
            guard let handle = spare.popLast() ?? curl.makeEasy().map({ CurlHandle(pointer: $0) }) else {
                return false
            }
            exchange.begin(on: handle)
            nextEnd = min(nextEnd, exchange.end)
            if curl.add(multi, handle.pointer) == 0 { return true }
            _ = exchange.detach(handle.pointer)
            curl.endEasy(handle.pointer)
            return false
        }

        /// Called by an exchange when its head has arrived.
        func headArrived(of exchange: CurlExchange) { deliverable.append(exchange) }

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

        /// Gives the answers whose heads have arrived to those that wait for them, in one go with the bytes that came with
        /// the head, so that a small answer arrives whole.
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
            if spare.count < Self.mostSpare { spare.append(exchange.detach(handle)) } else { curl.endEasy(handle) }
            if let next = queues.end(at: exchange.server).flatMap({ exchanges[$0] }) { begin(next) }
        }

        /// Sleeps until there is something to do, a command arrives, or a limit passes.
        private func sleep() {
            let mustSleep = inbox.withLock { inbox in
                inbox.isAsleep = inbox.commands.isEmpty && !inbox.isClosed
                return inbox.isAsleep
            }
            guard mustSleep else { return }
            let time = exchanges.isEmpty ? Self.longestSleep : min(Self.longestSleep, max(.zero, nextEnd - uptime))
            let milliseconds = (time.nanoseconds + 999_999) / 1_000_000
            var waking = CurlWaitDescriptor(descriptor: event, events: 1, arrived: 0)
            _ = curl.poll(multi, &waking, 1, Int32(milliseconds), nil)
            var number: UInt64 = 0
            if waking.arrived != 0 { _ = read(event, &number, 8) }
        }

        private static let longestSleep = Duration.seconds(3_600)

        private func release() {
            for handle in spare { curl.endEasy(handle.pointer) }
            _ = curl.endMulti(multi)
        }

        private static func close(_ descriptor: Int32) -> Int32 {
            #if canImport(Glibc)
                Glibc.close(descriptor)
            #else
                Musl.close(descriptor)
            #endif
        }
    }
#endif
