import Larder

@testable import LarderSync

extension ModelWorld {
    /// Judges a step.
    mutating func judge(
        _ action: ModelAction, _ before: [ModelDevice], _ effects: SyncEffects
    ) throws(Violation) {
        if case .arrive = action { return }
        guard let device = action.device else { return }
        try judgeBooks(device, effects)
        judgeEvents(device, effects)
        if !devices[device].isSignedIn { return }
        try judgeOrder(device, before[device])
        try judgeSight(device, effects)
        try judgePosition(device)
        try judgeWaits(device)
    }

    /// The service has got a request: it must not make a change twice.
    func judgeOnce(_ request: ModelRequest) throws(Violation) {
        let count = service.changes.count { $0.device == request.device && $0.write == request.write }
        // After a refusal, a write has another key, and a late request with the former one may still arrive.
        let isRefused = judge.refused.contains { $0.device == request.device && $0.write == request.write }
        if rules.knowsKeys, count > 1, !isRefused { throw Violation("I3", "write \(request.write) is made twice") }
    }

    // MARK: Books

    private mutating func judgeBooks(_ device: Int, _ effects: SyncEffects) throws(Violation) {
        let name = "device \(device)"
        var ended: [Int64] = []
        var (accepted, overtaken) = (0, 0)
        for event in effects.events {
            switch event {
            case .accepted(_, let write):
                accepted += 1
                ended.append(write)
                let isMade = service.changes.contains { $0.device == device && $0.write == write }
                // A record that is gone already need not be deleted.
                let isDelete = judge.contents.contains {
                    $0.device == device && $0.write == write && $0.kind == .delete
                }
                if !isMade, !isDelete {
                    throw Violation("I2", "\(name): write \(write) is accepted and was never made")
                }
            case .overtaken(_, let write):
                overtaken += 1
                ended.append(write)
            case .rejected(_, let write, _), .expired(_, let write): ended.append(write)
            case .conflict, .renamed, .suspicious: break
            }
        }
        for write in ended {
            guard let place = judge.pending.firstIndex(where: { $0.device == device && $0.write == write }) else {
                throw Violation("I2", "\(name): write \(write) ends twice")
            }
            judge.pending.remove(at: place)
        }
        var vanished = judge.takeVanished()
        if effects.books.discarded > 0 {
            let left = Set(devices[device].rows.flatMap { $0.writes.map(\.number) })
            let count = judge.pending.count
            judge.pending.removeAll { $0.device == device && !left.contains($0.write) }
            vanished += count - judge.pending.count
        }
        let kept = devices[device].rows.flatMap { row in
            row.writes.filter(\.isPending).map { Judge.Pending(device: device, write: $0.number, record: row.number) }
        }
        let expected = judge.pending.filter { $0.device == device }
        if Set(kept) != Set(expected) || kept.count != expected.count {
            throw Violation(
                "I2", "\(name) has the writes \(kept.map(\.write)), and not \(expected.map(\.write)), without an event")
        }
        let books = effects.books
        let letters = effects.letters.filter { $0.reason == .rejected || $0.reason == .needsRejected }.count
        if books.unaccounted != 0 { throw Violation("I2", "\(name): \(books.unaccounted) writes are unaccounted") }
        if books.accepted != accepted || books.rejected != letters || books.overtaken != overtaken {
            throw Violation("I2", "\(name): the books and the events differ")
        }
    }

    private mutating func judgeEvents(_ device: Int, _ effects: SyncEffects) {
        for case .accepted(_, let write) in effects.events {
            for place in judge.expected.indices
            where judge.expected[place].device == device && judge.expected[place].write == write {
                judge.expected[place].isAccepted = true
            }
        }
    }

    // MARK: Sight

    /// No later read goes back behind an earlier one.
    private mutating func judgeOrder(_ device: Int, _ before: ModelDevice) throws(Violation) {
        for row in devices[device].rows {
            guard let at = row.base?["at"]?.integer.map({ Int($0) }) else { continue }
            if let place = judge.newest.firstIndex(where: { $0.device == device && $0.id == row.id }) {
                if at < judge.newest[place].at {
                    throw Violation("I9", "device \(device): \(row.id) goes back to an older state")
                }
                judge.newest[place].at = at
            } else {
                judge.newest.append(Judge.Newest(device: device, id: row.id, at: at))
            }
        }
        for old in before.rows where old.base != nil {
            let isThere = devices[device].rows.contains { $0.id == old.id && $0.base != nil }
            // A page of an earlier time may show it again, for the time of one pull.
            guard !isThere, !rules.pagesAreOfOneTime, let gone = service.record(old.id), gone.text == nil,
                let place = judge.newest.firstIndex(where: { $0.device == device && $0.id == old.id })
            else { continue }
            judge.newest[place].at = max(judge.newest[place].at, gone.at)
        }
        judge.newest.sort { ($0.device, $0.id) < ($1.device, $1.id) }
    }

    /// A user sees an own change until it is accepted and replaced, or ends with an event.
    private mutating func judgeSight(_ device: Int, _ effects: SyncEffects) throws(Violation) {
        var left: [Judge.Expectation] = []
        let ended = effects.events.compactMap { event in
            switch event {
            case .overtaken(_, let write), .rejected(_, let write, _), .expired(_, let write): write
            default: nil
            }
        }
        for expectation in judge.expected {
            if expectation.device != device {
                left.append(expectation)
                continue
            }
            let row = devices[device].rows.first { $0.number == expectation.record }
            let shown = row.flatMap { planner.planner.shown($0) }
            let change = service.changes.last { $0.device == device && $0.write == expectation.write }
            let at = row?.base?["at"]?.integer.map { Int($0) }
            if expectation.isAccepted {
                // From here on, what the device has of the service can only become newer.
                let isReplaced = change.map { change in
                    at.map { $0 >= change.at }
                        ?? service.changes.contains { $0.id == change.id && $0.isDeletion && $0.at >= change.at }
                }
                if isReplaced ?? (shown == nil) { continue }
            }
            if ended.contains(expectation.write) { continue }
            if expectation.sight.isSeen(in: shown) {
                left.append(expectation)
                continue
            }
            // A change may have been the same as one that was refused now.
            let isExplained =
                effects.letters.contains { $0.id == row?.id }
                || effects.events.contains { event in
                    if case .conflict(let id, _, _, _) = event { id == row?.id } else { false }
                }
            if !isExplained {
                throw Violation(
                    "I9", "device \(device) does not show \(expectation.sight) of write \(expectation.write) any more")
            }
        }
        judge.expected = left
    }

    // MARK: Position and waits

    private func judgePosition(_ device: Int) throws(Violation) {
        let state = devices[device].pull
        if let run = state.run, run.pages > 20 { throw Violation("I16", "a pull does not end") }
        guard let position = state.position.flatMap({ Int($0) }) else {
            if state.position != nil { throw Violation("I8", "the position is none of the service's") }
            return
        }
        if position > service.clock { throw Violation("I8", "the position is beyond the service's time") }
        for record in service.records where record.at <= position {
            let row = devices[device].rows.first { $0.id == record.id }
            let at = row?.base?["at"]?.integer.map { Int($0) }
            if record.text != nil, (at ?? -1) < record.at {
                // It may be deleted here, in a write that the service has accepted.
                throw Violation("I8", "device \(device) is at \(position) and has not merged \(record.id)")
            }
            if record.text == nil, let at, at < record.at, row?.isDeletedThere == false {
                throw Violation("I8", "device \(device) is at \(position) and still has \(record.id)")
            }
        }
    }

    private func judgeWaits(_ device: Int) throws(Violation) {
        let device = devices[device]
        for row in device.rows {
            if row.writes.contains(where: { $0.rounds > 6 }) { throw Violation("I16", "a conflict does not end") }
            if row.isDeletedThere, row.writes.isEmpty { throw Violation("I10", "a deleted record stays") }
            guard let write = row.writes.first(where: \.isPending) else { continue }
            for write in row.writes {
                for id in TemporaryIDs.all(in: write) {
                    if device.names.contains(where: { $0.former == id }) {
                        throw Violation("I7", "a write has the former id of a record that was named")
                    }
                }
            }
            let step = planner.nextStep(row, device.rows, 1_700_000_000_000 + rulesClock(device) + time * 1_000)
            switch step {
            case .rest, .otherSource: throw Violation("I15", "write \(write.number) waits for nothing")
            case .sending:
                if !device.calls.contains(where: { $0.request.record == row.number }) {
                    throw Violation("I15", "write \(write.number) waits for an answer that cannot come")
                }
            case .needs(_, let ids):
                for id in ids {
                    let isMade = device.rows.contains { $0.id == id && $0.writes.contains { $0.kind == .create } }
                    if !isMade { throw Violation("I15", "write \(write.number) needs a record that nobody makes") }
                }
                let others = Set(TemporaryIDs.all(in: write) + (row.id.hasPrefix("tmp-") ? [row.id] : []))
                if others.isEmpty { throw Violation("I6", "write \(write.number) waits for other records") }
            case .wait(_, let until):
                if until > 1_700_000_000_000 + 3 * 86_400_000 { throw Violation("I15", "a wait is too long") }
                if write.tries == 0 { throw Violation("I6", "write \(write.number) waits and was never sent") }
            case .send, .lookUp, .ask: break
            }
        }
    }

    private func rulesClock(_ device: ModelDevice) -> Int64 {
        devices.firstIndex(of: device).map { rules.clocks[$0] } ?? 0
    }
}

/// Finds temporary ids in its own way.
enum TemporaryIDs {
    static func all(in write: QueuedWrite) -> [String] {
        var found: [String] = []
        for change in write.patch.changes {
            for text in [change.after].compactMap({ $0 }).map({ String(decoding: $0.bytes, as: UTF8.self) }) {
                var rest = text[...]
                while let range = rest.firstRange(of: "tmp-") {
                    found.append(String(rest[range.lowerBound...].prefix(30)))
                    rest = rest[range.upperBound...]
                }
            }
        }
        return found
    }
}

extension ModelAction {
    /// The device that does it.
    var device: Int? {
        switch self {
        case .write(let device), .send(let device, _), .deliver(let device, _, _), .settle(let device, _, _),
            .lookUp(let device, _), .ask(let device, _), .page(let device, _), .crash(let device, _),
            .resolve(let device, _, _), .signOut(let device), .signIn(let device), .raiseEdition(let device):
            device
        case .arrive: nil
        }
    }
}
