import LarderSystem
import LarderFoundation
import Larder
import LarderCore
import Testing

@Suite struct ScreenStateTests {
    private typealias State = ScreenTable.State
    private typealias Event = ScreenTable.Event

    private static let now = ScreenTable.now

    @Test func rowsBeginInTheirPhases() {
        for row in ScreenTable.rows where row.name != "empty (being cleared)" {
            #expect(ScreenTable.name(of: ScreenTable.state(after: row.events)) == row.name)
        }
    }

    /// If this fails, replace the table in the page with the one in the message.
    @Test func pageHasTheTablesOfTheMachine() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/Larder/Larder.docc/Screens.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        for columns in [ScreenTable.surroundings, ScreenTable.loads] {
            let table = ScreenTable.markdown(columns)
            #expect(text.contains(table), "Screens.md is out of date. The machine says:\n\(table)")
        }
    }

    /// All events of the table, and steps of loads that are over or have not begun.
    private static func events(for state: State) -> [Event] {
        let number = state.load?.number ?? 0
        let steps: [State.Progress] = ScreenTable.loads.compactMap {
            if case .load(_, let step) = $0.event { step } else { nil }
        }
        return ScreenTable.surroundings.compactMap(\.event) + [.saved(ScreenTable.fresh), .saved(ScreenTable.stale)]
            + [.clearingBegan(2, .tag("t")), .clearingEnded(2)]
            + steps.map { .load(number, $0) } + [.load(number, .cancelled), .load(number - 1, steps[2])]
    }

    /// Follows every sequence of so many events, and checks each step.
    private func walk(_ state: State, _ length: Int, _ path: [String]) {
        if length == 0 { return }
        for event in Self.events(for: state) {
            var next = state
            let load = next.apply(event, at: Self.now)
            let path = path + ["\(event)".prefix(60).description]
            check(state, event, next, load, path)
            walk(next, length - 1, path)
        }
    }

    private func check(_ former: State, _ event: Event, _ state: State, _ load: State.Load?, _ path: [String]) {
        let phase = state.phase(at: Self.now)
        if phase.error != nil, phase.isLoading || state.load != nil { Issue.record("error beside a spinner: \(path)") }
        if phase.isLoading, state.load == nil { Issue.record("a spinner without a load: \(path)") }
        if case .stale(_, let age, _) = phase, age == nil { Issue.record("stale without its age: \(path)") }
        if let load, state.load != load { Issue.record("the load that begins is not the one that counts: \(path)") }
        if state.isCleared, phase.value != nil || state.load != nil { Issue.record("shown although cleared: \(path)") }
        switch event {
        case .clearingBegan(_, .all): if !state.isCleared { Issue.record("not cleared: \(path)") }
        case .returned, .refreshAsked: break
        case .load(let number, _) where number != former.load?.number:
            if ScreenTable.name(of: former) != ScreenTable.name(of: state) {
                Issue.record("a late step counts: \(path)")
            }
        case .clearingEnded: break
        default: if former.isCleared, !state.isCleared { Issue.record("back after a clearing: \(path)") }
        }
    }

    @Test func noSequenceOfEventsBreaksTheRules() {
        for row in ScreenTable.rows { walk(ScreenTable.state(after: row.events), 3, [row.name]) }
    }

    @Test func ageGrowsWithTime() {
        let state = ScreenTable.state(after: [.returned, .load(1, .settled(ScreenTable.stale))])
        guard case .stale("old", let age, isRefreshing: false) = state.phase(at: Self.now + .seconds(60)) else {
            Issue.record("not stale")
            return
        }
        #expect(age == .seconds(660))
    }

    @Test func olderCopyDoesNotReplaceNewerValue() {
        let events: [Event] = [.returned, .load(1, .copy(ScreenTable.fresh)), .load(1, .copy(ScreenTable.stale))]
        #expect(ScreenTable.state(after: events).phase(at: Self.now).value == "new")
        let seed = ScreenTable.loaded("seed", .stale, age: nil)
        let after = ScreenTable.state(after: [
            .returned, .load(1, .copy(ScreenTable.stale)), .load(1, .stoodIn(seed, ScreenTable.failure)),
        ])
        #expect(after.phase(at: Self.now).value == "old")
    }

    @Test func answerUnderAPolicyWithoutFreshnessIsFreshForAMinute() {
        var permissions = Permissions(.all)
        permissions.freshFor = .zero
        let answer = Loaded("new", permissions: permissions)
        let state = ScreenTable.state(after: [.returned, .load(1, .answered(answer))])
        #expect(ScreenTable.name(of: state) == "fresh")
        #expect(ScreenTable.name(of: state, at: Self.now + .seconds(59)) == "fresh")
        #expect(ScreenTable.name(of: state, at: Self.now + .seconds(60)) == "stale")
    }

    @Test func reloadDuringAClearingBeginsAfterIt() {
        var state = ScreenTable.state(after: [.returned, .clearingBegan(1, .scope("alice"))])
        #expect(state.apply(.returned, at: Self.now) == nil)
        #expect(state.apply(.clearingEnded(1), at: Self.now)?.mode == .normal)
        #expect(ScreenTable.name(of: state) == "loading")
    }

    @Test func clearingOfAnotherAccountChangesNothing() {
        var state = ScreenTable.state(after: [.returned, .load(1, .answered(ScreenTable.fresh))])
        _ = state.apply(.clearingBegan(1, .scope("bob")), at: Self.now)
        #expect(state.phase(at: Self.now).value == "new")
    }

    @Test func clearingOfATagEmptiesOnlyScreensThatShowIt() {
        let other = ScreenTable.state(after: [
            .returned, .load(1, .answered(ScreenTable.fresh)), .clearingBegan(1, .tag("t")),
        ])
        #expect(other.phase(at: Self.now).value == "new")
        // A load under way may bring an answer from before the clearing.
        var loading = ScreenTable.state(after: [.returned, .clearingBegan(1, .tag("t"))])
        #expect(loading.apply(.clearingEnded(1), at: Self.now)?.number == 2)
    }
}
