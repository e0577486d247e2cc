import LarderSystem

/// A resource whose refreshes may have to wait for a network.
protocol RefreshedResource: AnyObject, Sendable {
    var keys: KeyTable { get }
    /// Returns whether the policy permits some work on the present network.
    func permits(_ work: BackgroundWork) -> Bool
    /// Makes a refresh that has waited, by the policy that is in effect now.
    func refresh(_ call: Call, within limit: Duration) async
}

/// The refreshes of a resource that wait for a network.
///
/// They begin within some seconds of its return, the most urgent first, so that a million devices which leave the same
/// tunnel do not call at once.
final class PostponedRefreshJob: AgendaJob {
    private struct State {
        weak var resource: (any RefreshedResource)?
        /// Those that are taken out of the records of their keys, the first last.
        var due: [DueRefresh] = []
        /// The uptime at which the first begins; nil if it is not chosen.
        var start: Duration?
        var steps = 0
    }

    /// The longest time until the first refresh begins.
    private static let longestDelay = Duration.seconds(2)

    let priority = Request.Priority.normal
    private let world: any World
    private let state: Locked<State>

    init(of resource: any RefreshedResource, in world: any World) {
        self.world = world
        state = Locked(State(resource: resource))
    }

    private var resource: (any RefreshedResource)? { state.withLock { $0.resource } }

    func isMet(by device: Device) -> Bool {
        device.network.reach != .offline && resource?.permits(.refresh) != false
    }

    func next(isMet: Bool) -> AgendaJobStep {
        guard let resource else { return .end }
        if isMet {
            let permitsPrefetches = resource.permits(.prefetch)
            let due = resource.keys.takePostponedRefreshes { permitsPrefetches || $0.request.purpose != .prefetch }
            if !due.isEmpty { state.withLock { $0.due = ($0.due + due).sorted { $1.isBefore($0) } } }
        }
        return state.withLock { state in
            let isOver = state.due.isEmpty && resource.keys.postponedRefreshes == 0
            guard isMet, let next = state.due.last else {
                state.start = nil
                return isOver ? .end : .waitForDevice
            }
            let uptime = world.uptime
            let start = state.start ?? uptime + Self.longestDelay.scaled(by: world.chance())
            state.start = start
            if start > uptime { return .wait(start - uptime) }
            state.due.removeLast()
            state.steps += 1
            return .run(state.steps) { await resource.refresh(next.call, within: next.refresh.limit) }
        }
    }

    /// Drops all refreshes. A clearing drops those that it selects by their tickets.
    func drop(where isSelected: ((Request) -> Bool)?) -> AgendaDrop {
        if isSelected != nil { return AgendaDrop() }
        let (due, steps) = state.withLock { state in (state.due, state.steps) }
        state.withLock { $0.due = [] }
        withExtendedLifetime(due) {}
        return AgendaDrop(steps: steps == 0 ? [] : Array(max(1, steps - AgendaLane.loads.places)...steps))
    }
}
