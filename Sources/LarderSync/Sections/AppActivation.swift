import LarderFoundation
import LarderSystem

/// The moments at which the app comes to the foreground.
enum AppActivation {
    #if canImport(Darwin)
        /// The notifications that tell it, by their names, so that no framework for screens is needed.
        private static let names = [
            "UIApplicationWillEnterForegroundNotification", "NSApplicationDidBecomeActiveNotification",
            "WKApplicationWillEnterForegroundNotification",
        ]

        /// Calls a function at each of them, until the returned subscription ends.
        static func follow(_ body: @escaping @Sendable () -> Void) -> Subscription? {
            let center = NotificationCenter.default
            let observers = names.map { name in
                let observer = center.addObserver(forName: Notification.Name(name), object: nil, queue: nil) { _ in
                    body()
                }
                return Observer(token: observer)
            }
            return Subscription {
                for observer in observers { NotificationCenter.default.removeObserver(observer.token) }
            }
        }

        /// `@unchecked Sendable`: the token is only passed back to the center, which any thread may call.
        private struct Observer: @unchecked Sendable {
            let token: any NSObjectProtocol
        }
    #else
        /// Programs elsewhere have no foreground.
        static func follow(_ body: @escaping @Sendable () -> Void) -> Subscription? { nil }
    #endif
}
