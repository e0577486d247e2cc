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
        ).advised(.prefetch).alsoCalled("urls", "items", "instances", "parameters"),
        Setting(
            "when", .choice(["start", "wifi", "charging-or-wifi"]), default: "wifi",
            help:
                "The network to wait for: any at the start, one that costs nothing by use, or also any other while the "
                + "device is being charged. After the start, the list is fetched again each time the device comes back "
                + "to a network that costs nothing, at most once an hour"),
        traits: { requests, _ in .with { $0.requests = requests } }
    ) { context, requests, when in
        PrefetchList(requests, when: when, context)
    }
}

/// Prefetches a fixed list of instances: once, and again whenever the device comes back to the network that is waited for.
final class PrefetchList: Attachment, AgendaWork {
    private struct State {
        /// The uptime at which the next prefetch begins; nil if it is not chosen.
        var start: Duration?
        /// The uptime at which the last prefetch began.
        var begun: Duration?
        /// Whether the device has left the network since then.
        var hasLeft = false
        var prefetch: Prefetch?
    }

    /// The time between the beginnings of two prefetches.
    static let pause = Duration.seconds(3_600)
    /// The time before a prefetch begins: loads of the start come first, and not all devices call at once.
    static let delay = (least: Duration.seconds(1), most: Duration.seconds(5))

    let conditions = AgendaConditions(network: .wifi)
    private let requests: [Parameters]
    private let when: String
    private let context: SectionContext
    private let item: AgendaItem
    private let state = Locked(State())

    init(_ requests: [Parameters], when: String, _ context: SectionContext) {
        (self.requests, self.when, self.context) = (requests, when, context)
        item = AgendaItem(in: context)
        item.begin(self)
    }

    /// Cancels what is not fetched yet.
    func close() async {
        item.cancel()
        state.withLock { $0.prefetch.take() }?.cancel()
    }

    func next(isMet: Bool) -> AgendaStep {
        let uptime = context.world.uptime
        return state.withLock { state in
            // While requests of the last prefetch wait, the agenda goes on with them.
            let isDone = state.prefetch?.present.left == 0
            if isDone, !isMet { state.hasLeft = true }
            if let begun = state.begun {
                // At the start means once.
                if when == "start" { return .end }
                guard isDone, isMet, state.hasLeft else { return .waitForDevice }
                state.start = state.start ?? max(uptime, begun + Self.pause) + chosenDelay
            }
            let start = state.start ?? uptime + chosenDelay
            state.start = start
            return start > uptime ? .wait(start - uptime) : .run
        }
    }

    private var chosenDelay: Duration {
        Self.delay.least + (Self.delay.most - Self.delay.least) * context.world.chance()
    }

    func run() async {
        state.withLock { ($0.start, $0.begun, $0.hasLeft) = (nil, context.world.uptime, false) }
        guard let resource = context.ownResource else { return }
        let prefetch = resource.prefetch(
            requests, when: when == "start" ? .online : .wifi, orWhileCharging: when == "charging-or-wifi")
        state.withLock { $0.prefetch = prefetch }
        if !item.isActive { prefetch.cancel() }
    }
}
