#if os(Linux)

    extension NetworkWatch {
        /// Follows the network by a thread that listens to the system's routes and interfaces.
        static func followSystem(_ report: @escaping @Sendable (NetworkState) -> Void) {
            let thread = BlockingThreads(limit: 1)
            thread.run { [thread] in
                listen(report)
                withExtendedLifetime(thread) {}
            }
        }

        /// Listens until the process ends. Ends earlier if the system does not let this process listen.
        private static func listen(_ report: (NetworkState) -> Void) {
            // It listens before it asks, so that no change is missed.
            guard let changes = RouteSocket(hearsChanges: true) else { return report(.unknown) }
            let world = SystemWorld()
            while true {
                let start = world.uptime
                let table = RouteSocket.table(limit: 400)
                let taken = world.uptime - start
                report(table.map { NetworkState($0) } ?? .unknown)
                // A question that failed, for example because there was no descriptor left, is asked again.
                guard changes.waitForChange(limit: table == nil ? 1_000 : -1) else { break }
                // A change has many parts, and some messages are sent before the change is made. Where a large table
                // changes all the time, this thread works for at most a tenth of the time.
                RouteSocket.pause(max(.milliseconds(20), taken * 10))
                guard changes.skipMessages() else { break }
            }
            report(.unknown)
        }
    }
#endif
