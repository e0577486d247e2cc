import Larder
import Testing

@testable import LarderSync

/// A planner, one record, and all that follows from what happens to it.
struct PlannerSample {
    var rules: SyncRules
    var row: RecordRow
    var effects = SyncEffects()
    var moment: SyncMoment
    private var number: Int64 = 0

    var planner: SyncPlanner { SyncPlanner(rules) }
    var shown: String? { planner.shown(row).map(\.text) }
    var kinds: [QueuedWrite.Kind] { row.writes.map(\.kind) }

    /// - Parameter base: the record as the service has it; nil for a new record.
    init(_ base: String?, id: String = "r", _ change: (inout SyncRules) -> Void = { _ in }) throws {
        rules = SyncRules(idPath: ["id"], source: "s")
        change(&rules)
        row = RecordRow(number: 1, id: id, idText: JSONText(string: id), base: try base.map { try JSONText($0.utf8) })
        let keys = ModelKeys(device: 0, made: 0)
        moment = SyncMoment(now: 1_000_000, sequence: 1, newKey: { keys.next() })
        row.version = planner.version(of: row.base)
    }

    /// Makes a change of the user.
    @discardableResult
    mutating func write(_ intent: RecordIntent) throws -> Bool {
        number += 1
        moment.now += 1
        return try planner.write(intent, to: &row, number: number, at: &moment, &effects)
    }

    mutating func create(_ text: String) throws { try write(.create(JSONText(text.utf8))) }

    mutating func set(_ name: String, _ value: String?) throws {
        let shown = try #require(planner.shown(row))
        let value = try value.map { try JSONText($0.utf8) }
        try write(.update(from: shown, to: shown.setting([name], to: value)))
    }

    /// Sends the next write.
    mutating func send() throws {
        guard case .send(let number) = planner.nextStep(of: row, at: .max / 4),
            let place = row.writes.firstIndex(where: { $0.number == number })
        else { throw Missing() }
        planner.claim(&row.writes[place], at: row.version, &effects)
    }

    /// Settles the write that is being sent.
    mutating func settle(_ outcome: WriteOutcome) throws {
        guard let number = row.writes.first(where: { $0.status == .sending })?.number else { throw Missing() }
        planner.settle(outcome, of: number, in: &row, at: &moment, &effects)
    }

    mutating func answer(_ outcome: WriteOutcome) throws {
        try send()
        try settle(outcome)
    }

    /// Merges what a new pull brings of the record; nil for its deletion.
    mutating func pull(_ text: String?, state: PullState? = nil) throws {
        var state = state ?? PullState()
        if state.run == nil { planner.beginPull(&state, at: &moment) }
        if let text {
            let record = try JSONText(text.utf8)
            let pulled = PulledRecord(id: row.id, idText: row.idText, record: record)
            planner.merge(pulled, into: &row, state, at: &moment, &effects)
        } else {
            planner.mergeDeletion(into: &row, state, at: &moment, &effects)
        }
    }

    /// Ends a new pull that has not brought the record.
    mutating func endPullWithoutRecord() {
        var state = PullState(source: "s", position: "1")
        planner.beginPull(&state, at: &moment)
        planner.fold(&row, state)
    }

    struct Missing: Error {}
}

extension JSONText {
    var text: String { String(decoding: bytes, as: UTF8.self) }

    init(text: String) throws { try self.init(text.utf8) }
}
