import Larder
import LarderFoundation
import LarderSystem

/// A run that sends the changes of one account: what may be sent now is frozen, sent and settled, until nothing is left.
struct RecordsPush: Sendable {
    let attachment: RecordsAttachment
    let table: RecordTable
    let pusher: any Pusher

    /// The most bytes of the changes of a call.
    private static let mostBytes = 2_000_000

    /// Opens the changes again that a process has claimed which has ended. Called while no other process sends.
    ///
    /// - Parameter wakes: whether waits for a next try end as well, unless the service has asked for them.
    func reopen(wakes: Bool) async throws {
        try await change { decisions in
            try decisions.reopen(wakes: wakes)
            try decisions.forgetOld()
        }
    }

    /// Sends all that can be sent now. If the service cannot be reached, the rest waits.
    ///
    /// - Returns: whether the service answered to all that was sent.
    func run() async throws -> Bool {
        // The changes whose records could not be looked up. A former run may have left some, too.
        var failed: Set<Int64> = []
        try await lookUp(except: &failed)
        while true {
            try Task.checkCancellation()
            let most = pusher.most * pusher.parallel
            // The rules of the source that the changes were claimed for. A reload may change them meanwhile.
            let (rules, claimed) = try await change { decisions in
                (decisions.planner.rules, try decisions.claim(most: most, size: Self.mostBytes * pusher.parallel))
            }
            if claimed.isEmpty { return true }
            let outcomes = await send(claimed, by: rules)
            try await change { decisions in
                for (write, outcome) in zip(claimed, outcomes) { try decisions.settle(outcome, of: write) }
            }
            // The service cannot be reached, or nobody is signed in: a try of each other change would not help.
            if outcomes.allSatisfy(\.isWithoutAnswer) { return false }
            if outcomes.contains(.conflictWithoutRecord) { try await lookUp(except: &failed) }
        }
    }

    // MARK: Calls

    /// Returns the outcomes of changes, which are sent in calls that run at the same time.
    private func send(_ claimed: [ClaimedWrite], by rules: SyncRules) async -> [WriteOutcome] {
        let calls = stride(from: 0, to: claimed.count, by: pusher.most).map { start in
            Array(claimed[start..<min(start + pusher.most, claimed.count)])
        }
        if calls.count == 1 { return await outcomes(of: calls[0], by: rules) }
        let works = calls.map { call in
            AwaitableWork(in: attachment.world) { await outcomes(of: call, by: rules) }
        }
        var found: [WriteOutcome] = []
        for (work, call) in zip(works, calls) {
            found += (try? await work.value()) ?? call.map { _ in .unknown }
        }
        return found
    }

    /// Returns the outcomes of the changes of one call, or of more calls if it is too large.
    private func outcomes(of claimed: [ClaimedWrite], by rules: SyncRules) async -> [WriteOutcome] {
        // A temporary id never leaves the device.
        let changes = claimed.map { PushedChange($0, by: rules) }
        if changes.contains(where: \.hasTemporaryID) {
            let sound = claimed.indices.filter { !changes[$0].hasTemporaryID }
            var found = claimed.map { _ in WriteOutcome.later(nil) }
            if sound.isEmpty { return found }
            let others = await outcomes(of: sound.map { claimed[$0] }, by: rules)
            for (place, outcome) in zip(sound, others) { found[place] = outcome }
            return found
        }
        do {
            let found = try await pusher.push(changes, by: attachment.call(for: table, rules))
            return found.count == changes.count
                ? found.map { $0.checked(by: rules) }
                : changes.indices.map { $0 < found.count ? found[$0].checked(by: rules) : .unknown }
        } catch PushError.tooLarge {
            if claimed.count == 1 { return [.rejected(status: 413)] }
            let middle = claimed.count / 2
            return await outcomes(of: Array(claimed[..<middle]), by: rules)
                + outcomes(of: Array(claimed[middle...]), by: rules)
        } catch let error as LoadError where error.code == .notSignedIn {
            return claimed.map { _ in .signedOut }
        } catch let error as LoadError where error.code == .invalidRequest {
            // The policy is wrong. The changes wait for another one.
            attachment.tell(.recordsNotSynced, "changes cannot be sent: \(error.message)")
            return claimed.map { _ in .later(nil) }
        } catch let error as LoadError where error.status != nil {
            let outcome: WriteOutcome =
                error.status == 413
                ? .rejected(status: 413) : .later(error.retryAfter?.milliseconds, status: error.status)
            return claimed.map { _ in outcome }
        } catch {
            return claimed.map { _ in .unknown }
        }
    }

    // MARK: Looking up

    /// Looks up the records of changes that were refused by an answer without the record.
    private func lookUp(except failed: inout Set<Int64>) async throws {
        let known = failed
        let (rules, needed) = try await change { decisions in
            let needed = try decisions.nextSteps().compactMap { id, step in
                if case .lookUp(let number) = step, !known.contains(number) { (id: id, number: number) } else { nil }
            }
            return (decisions.planner.rules, needed)
        }
        for (id, number) in needed {
            try Task.checkCancellation()
            failed.insert(number)
            let record: JSONText?
            do { record = try await attachment.fetchRecord(id, of: table, rules) } catch let error
                where error is LoadError || error is RecordError
            { continue }
            try await change { decisions in
                _ = try decisions.decide(id) { row, moment, effects in
                    decisions.planner.found(record, for: number, in: &row, at: &moment, &effects)
                }
            }
            failed.remove(number)
        }
    }

    private func change<Result: Sendable>(
        _ body: @escaping @Sendable (RecordDecisions) throws -> Result
    ) async throws -> Result {
        // A claim must be durable before a byte leaves, and what was accepted before anything else follows.
        try await attachment.changing(table, .power, body)
    }
}

extension WriteOutcome {
    /// Whether the service has not been reached.
    fileprivate var isWithoutAnswer: Bool {
        switch self {
        case .later, .signedOut, .unknown, .notUnderstood: true
        case .accepted, .conflict, .conflictWithDeletion, .conflictWithoutRecord, .rejected: false
        }
    }

    /// The outcome, unless it has a record that cannot be one.
    fileprivate func checked(by rules: SyncRules) -> WriteOutcome {
        switch self {
        case .accepted(let record?, let version) where record.kind != .object || record[rules.idPath]?.name == nil:
            .accepted(nil, version: version)
        case .conflict(let record, _) where record.kind != .object: .conflictWithoutRecord
        default: self
        }
    }
}

extension PushedChange {
    init(_ claimed: ClaimedWrite, by rules: SyncRules) {
        self.init(claimed.write, of: claimed.idText, version: claimed.version, shown: claimed.shown, by: rules)
    }

    /// - Parameters:
    ///   - write: the write.
    ///   - idText: the id of its record, as it is written in the record.
    ///   - version: the version of the record that the write was made on.
    ///   - shown: the record with the write.
    ///   - rules: the rules of the policy.
    init(
        _ write: QueuedWrite, of idText: JSONText, version: JSONText?, shown: JSONText?, by rules: SyncRules
    ) {
        kind = Kind(write.kind)
        let isUnnamed = write.kind == .create && (idText.name.map(TemporaryID.isOne) ?? false)
        id = isUnnamed ? nil : idText
        (key, self.version, madeAt, source) = (write.key, version, write.made, write.source)
        let shown = write.kind == .delete ? nil : shown
        record = isUnnamed ? shown?.setting(rules.idPath, to: nil) : shown
        fields =
            write.kind != .update ? [] : write.patch.changes.map { Field($0, isUnion: rules.isUnion($0.path)) }
    }

    /// Whether an id that only this device knows is in it.
    fileprivate var hasTemporaryID: Bool {
        if let name = id?.name, TemporaryID.isOne(name) { return true }
        let values = [record] + fields.map(\.after)
        return values.contains { $0.map { !TemporaryID.all(in: $0).isEmpty } ?? false }
    }
}

extension PushedChange.Kind {
    init(_ kind: QueuedWrite.Kind) { self = Self(rawValue: kind.rawValue) ?? .update }
}

extension PushedChange.Field {
    init(_ change: FieldChange, isUnion: Bool) {
        (place, before, after) = (JSONPointer(steps: change.path), change.before, change.after)
        self.isUnion = isUnion
        (added, removed) = (change.added, change.removed)
    }
}
