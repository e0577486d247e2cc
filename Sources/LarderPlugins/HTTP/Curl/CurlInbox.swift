#if canImport(Glibc) || canImport(Musl)
    /// The orders of any thread to the thread that uses libcurl, and whether there is such a thread.
    struct CurlInbox {
        /// An order to the thread that is at work.
        enum Command {
            case start(CurlExchange)
            case resume(UInt64)
            case cancel(UInt64)
        }

        /// The step after which an order will be carried out.
        enum Need {
            /// A thread is at work, and carries out the order before it stops.
            case nothing
            /// A thread must be started.
            case thread
            /// The calling thread must do the work, or wake the engine's. `isIdle`: there is no other exchange.
            case work(isIdle: Bool)
        }

        private var commands: [Command] = []
        private var lastNumber: UInt64 = 0
        /// Whether a thread is at work, or about to be, that carries out the commands before it stops.
        var isWorking = false
        /// Whether there is no exchange.
        private var isIdle = true
        /// Whether there is a thread, or one is being started.
        private(set) var isStarted = false
        var isClosed = false

        /// Returns a number for an exchange.
        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        /// Adds the order to start an exchange.
        mutating func start(_ exchange: CurlExchange) -> Need {
            defer { (isStarted, isWorking, isIdle) = (true, true, false) }
            commands.append(.start(exchange))
            if !isStarted { return .thread }
            return isWorking ? .nothing : .work(isIdle: isIdle)
        }

        /// Adds another order. Returns whether the thread must be woken.
        mutating func add(_ command: Command) -> Bool {
            // Without a thread, there are no exchanges.
            guard isStarted else { return false }
            commands.append(command)
            return !isWorking
        }

        /// Removes the orders, to carry them out.
        mutating func take() -> [Command] {
            defer { commands = [] }
            return commands
        }

        /// Lets the thread stop working if there are no orders. Returns whether it may.
        mutating func stop(hasExchanges: Bool) -> Bool {
            isWorking = !commands.isEmpty
            isIdle = !hasExchanges && commands.isEmpty
            return !isWorking
        }

        /// Notes that no thread could be started. Returns the exchanges that none takes care of.
        mutating func failToStart() -> [CurlExchange] {
            defer { (isStarted, isWorking) = (false, false) }
            return take().compactMap { if case .start(let exchange) = $0 { exchange } else { nil } }
        }
    }
#endif
