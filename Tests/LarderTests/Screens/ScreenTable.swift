import LarderSystem
import LarderFoundation
import LarderCore

/// Every phase of a screen with every event: the table of the page "Screens", made by the state machine itself.
enum ScreenTable {
    typealias State = ScreenState<String>
    typealias Event = State.Event

    static let now = Timestamp(seconds: 1_000_000)
    static let key = Key(resource: "feed", scope: "alice", parameters: ["id": "1"])

    /// The phases, each with the events that lead to it.
    static let rows: [(name: String, events: [Event])] = [
        ("loading", [.returned]),
        ("fresh", [.returned, .load(1, .answered(fresh))]),
        ("fresh ↻", [.returned, .load(1, .copy(fresh))]),
        ("stale", [.returned, .load(1, .settled(stale))]),
        ("stale ↻", [.returned, .load(1, .copy(stale))]),
        ("failed", [.returned, .load(1, .failed(failure))]),
        ("failed, value", [.returned, .load(1, .copy(stale)), .load(1, .failed(failure))]),
        ("offline", [.returned, .load(1, .failed(failure)), .networkLost]),
        ("offline (loading)", [.returned, .networkLost]),
        ("offline, value", [.returned, .load(1, .settled(stale)), .networkLost]),
        ("offline, value (loading)", [.returned, .load(1, .copy(stale)), .networkLost]),
        ("empty", [.returned, .load(1, .failed(.notCached))]),
        ("empty (cleared)", [.returned, .clearingBegan(1, .all), .clearingEnded(1)]),
        ("empty (being cleared)", [.returned, .clearingBegan(1, .all)]),
    ]

    /// The events around a screen.
    static let surroundings: [(name: String, event: Event?)] = [
        ("screen returns", .returned), ("refresh", .refreshAsked), ("policy changes", .policyChanged),
        ("network lost", .networkLost), ("network returns", .networkReturned),
        ("clearing begins", .clearingBegan(1, .all)), ("clearing ends", .clearingEnded(1)), ("an hour passes", nil),
    ]

    /// The events of loads.
    static let loads: [(name: String, event: Event?)] = [
        ("fresh copy", .load(1, .copy(fresh))), ("stale copy", .load(1, .copy(stale))),
        ("answer", .load(1, .answered(fresh))), ("unchanged", .load(1, .unchanged(fresh))),
        ("copy suffices", .load(1, .settled(fresh))), ("failure", .load(1, .failed(failure))),
        ("failure, stand-in", .load(1, .stoodIn(stale, failure))),
        ("error as answer", .load(1, .failed(.status(403)))), ("answer of another load", .saved(fresh)),
    ]

    static let failure = LoadError.status(503)
    /// A value that is fresh for five minutes.
    static let fresh = loaded("new", .fresh, age: .zero)
    static let stale = loaded("old", .stale, age: .seconds(600))

    static func loaded(_ text: String, _ freshness: Freshness, age: Duration?) -> Loaded<String> {
        var permissions = Permissions(.all)
        permissions.freshFor = .seconds(300)
        return Loaded(text, freshness: freshness, age: age, permissions: permissions)
    }

    static func state(after events: [Event]) -> State {
        var state = State(for: key)
        for event in events { _ = state.apply(event, at: now) }
        return state
    }

    /// Returns the name of a state's phase as it stands in the table.
    static func name(of state: State, at now: Timestamp = now) -> String {
        let hidden = state.load == nil ? "" : " (loading)"
        return switch state.phase(at: now) {
        case .loading: "loading"
        case .fresh(_, let isRefreshing): "fresh" + (isRefreshing ? " ↻" : "")
        case .stale(_, _, let isRefreshing): "stale" + (isRefreshing ? " ↻" : "")
        case .empty: state.isCleared ? "empty (cleared)" : "empty"
        case .failed(_, let shown): "failed" + (shown == nil ? "" : ", value")
        case .offline(let shown): "offline" + (shown == nil ? "" : ", value") + hidden
        }
    }

    /// Returns the phase after an event, and the load that begins: `stale ↻ *refresh*`. Returns a point if nothing
    /// changes.
    static func cell(_ row: [Event], _ event: Event?) -> String {
        var state = state(after: row)
        let former = name(of: state)
        guard let event else {
            let later = name(of: state, at: now + .seconds(3_600))
            return later == former ? "·" : later
        }
        let load = state.apply(event, at: now)
        let next = name(of: state)
        let begins = load.map { $0.mode == .refresh ? "*refresh*" : "*load*" }
        if next == former { return begins ?? (state.postponed == nil ? "·" : "*later*") }
        return begins.map { next + " " + $0 } ?? next
    }

    /// A table with a row for each phase and a column for each event.
    static func markdown(_ columns: [(name: String, event: Event?)]) -> String {
        let head = "| phase | " + columns.map(\.name).joined(separator: " | ") + " |"
        let line = "|" + String(repeating: "---|", count: columns.count + 1)
        let body = rows.map { row in
            "| " + ([row.name] + columns.map { cell(row.events, $0.event) }).joined(separator: " | ") + " |"
        }
        return ([head, line] + body).joined(separator: "\n")
    }
}
