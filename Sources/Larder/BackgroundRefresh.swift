#if canImport(BackgroundTasks) && os(iOS)
    import BackgroundTasks
    import Foundation
    public import LarderCore

    /// Lets iOS wake the app for the work that is due: an adapter between `BGTaskScheduler` and ``Pantry/runDue(within:)``.
    public enum BackgroundRefresh {
        /// The time that iOS gives a task, with some to spare.
        private static let budget = Duration.seconds(25)

        /// Registers the task. Call it before the app has finished launching. Each time the task runs, the next one is
        /// requested.
        ///
        /// - Parameters:
        ///   - identifier: the identifier in the app's `BGTaskSchedulerPermittedIdentifiers`.
        ///   - pantry: returns the pantry; nil if there is none.
        /// - Returns: false if the identifier is not permitted.
        @discardableResult
        public static func register(
            _ identifier: String, pantry: @escaping @Sendable () async -> Pantry?
        ) -> Bool {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
                // The system's object may be used from any thread, although it does not say so.
                nonisolated(unsafe) let task = task
                let work = SystemWorld().spawn {
                    let report = await pantry()?.runDue(within: budget)
                    try? Self.request(identifier, notBefore: report?.next)
                    task.setTaskCompleted(success: report?.failed.isEmpty ?? false)
                }
                task.expirationHandler = { work.cancel() }
            }
        }

        /// Asks the system to run the task, not before a time. Call it when the app goes to the background.
        ///
        /// - Parameter next: the time at which work is due: ``DueReport/next`` or ``DueWork/nextDue``.
        /// - Throws: the error of the system.
        public static func request(_ identifier: String, notBefore next: Timestamp?) throws {
            let request = BGAppRefreshTaskRequest(identifier: identifier)
            request.earliestBeginDate = next.map { .init(timeIntervalSince1970: Double($0.nanoseconds) / 1e9) }
            try BGTaskScheduler.shared.submit(request)
        }
    }
#endif
