import LarderSystem
import LarderCore

extension Plugin {
    /// A fixed list of instances that are prefetched.
    static let prefetchList = Plugin.section(
        "prefetch",
        "Fetches a fixed list of instances ahead of users, some seconds after the pantry has started. Instances with a "
            + "fresh copy need no call.",
        Setting(
            "requests", .list(of: .parameters, atLeast: 1),
            help: "The instances, each by its parameters: [{ \"page\": \"1\" }, { \"page\": \"2\" }]"
        ).advised(.prefetch),
        Setting(
            "when", .choice(["start", "wifi", "charging-or-wifi"]), default: "wifi",
            help:
                "The network to wait for: any at the start, one that costs nothing by use, or also any other while the "
                + "device is being charged. After the start, the list is fetched again each time the device comes back "
                + "to a network that costs nothing, at most once an hour"),
        traits: { requests, _ in Traits().with { $0.requests = requests } }
    ) { context, requests, when in
        PrefetchList(requests, when: when, context)
    }
}

/// Prefetches a fixed list of instances: once, and again whenever the device comes back to the network that is waited for.
final class PrefetchList: Attachment {
    private struct State {
        var alarm: Alarm?
        var prefetch: Prefetch?
        /// The uptime at which the last prefetch began.
        var begun = Duration.zero
        /// Whether the device has left the network since then.
        var hasLeft = false
        var isClosed = false
        var following: Subscription?
    }

    /// The time between the beginnings of two prefetches.
    static let pause = Duration.seconds(3_600)
    /// The time before a prefetch begins: loads of the start come first, and not all devices call at once.
    static let delay = (least: Duration.seconds(1), most: Duration.seconds(5))

    private let requests: [Parameters]
    private let when: String
    private let context: Context
    private let state = Locked(State())

    init(_ requests: [Parameters], when: String, _ context: Context) {
        self.requests = requests
        self.when = when
        self.context = context
        guard context.allowsBackgroundWork else { return }
        begin(after: chosenDelay)
        // At the start means once.
        if when == "start" { return }
        let following = context.world.onNetworkChange { [weak self] in self?.networkChanged() }
        state.withLock { $0.following = following }
    }

    deinit { end() }

    /// Cancels what is not fetched yet.
    func close() async { end() }

    private func end() {
        let state = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state
        }
        state.following?.stop()
        state.alarm?.cancel()
        state.prefetch?.cancel()
    }

    private var chosenDelay: Duration {
        Self.delay.least + (Self.delay.most - Self.delay.least) * context.world.chance()
    }

    private func begin(after delay: Duration) {
        let alarm = context.world.alarm(after: delay) { [weak self] in self?.prefetch() }
        let isNeeded = state.withLock { state in
            if !state.isClosed { state.alarm = alarm }
            return !state.isClosed
        }
        if !isNeeded { alarm.cancel() }
    }

    private func prefetch() {
        state.withLock { ($0.alarm, $0.begun, $0.hasLeft) = (nil, context.world.uptime, false) }
        guard let resource = context.ownResource else { return }
        let prefetch = resource.prefetch(
            requests, when: when == "start" ? .online : .wifi, orWhileCharging: when == "charging-or-wifi")
        let isNeeded = state.withLock { state in
            if !state.isClosed { state.prefetch = prefetch }
            return !state.isClosed
        }
        if !isNeeded { prefetch.cancel() }
    }

    private func networkChanged() {
        let isThere = NetworkCondition.wifi.isMet(by: context.world.network)
        let uptime = context.world.uptime
        let delay = state.withLock { state -> Duration? in
            if !isThere { state.hasLeft = true }
            // While requests of the last prefetch wait, the queue goes on with them.
            guard isThere, state.hasLeft, state.alarm == nil, state.prefetch?.present.left == 0 else { return nil }
            return max(.zero, state.begun + Self.pause - uptime)
        }
        if let delay { begin(after: delay + chosenDelay) }
    }
}
