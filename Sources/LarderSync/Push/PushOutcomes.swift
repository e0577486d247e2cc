import Larder

/// The meaning of answers to changes.
struct PushOutcomes: Sendable {
    /// The place of the record in an answer that accepts a change.
    var record = JSONPointer(steps: [])
    /// The place of the service's record in an answer that says that somebody else has changed it; nil if it is not there.
    var conflictRecord: JSONPointer?
    /// The place of errors in an answer with a good status; nil if there are none.
    var failed: JSONPointer?
    var statuses = PushStatuses()
    var idPath: [String] = []

    /// Returns the outcomes by the rules of a call's policy.
    func with(_ call: PushCall) -> PushOutcomes {
        var outcomes = self
        (outcomes.statuses, outcomes.idPath) = (call.statuses, call.idPath)
        return outcomes
    }

    /// Returns what became of a change.
    ///
    /// - Parameters:
    ///   - status: the status of the answer, or of the change's part of it.
    ///   - body: the answer as JSON, or the change's part of it; nil if it is empty.
    ///   - isJSON: whether the body is JSON or empty. A page of HTML is no answer of the service, whatever its status is.
    ///   - wait: the time for which the service asked for no further calls.
    func outcome(
        of change: PushedChange, status: Int?, body: JSONText?, isJSON: Bool, wait: Duration?
    ) -> WriteOutcome {
        let status = status ?? 200
        let pause = wait?.milliseconds
        // The change may have been made, or the answer is not of the service: it is sent again with the same key.
        let notUnderstood = WriteOutcome.notUnderstood(status: status)
        switch statuses.meaning(of: status, for: change.kind) {
        // Many services say with a page for people that there is no such record.
        case .accepted where change.kind == .delete && status >= 400: return .accepted(nil)
        case .accepted: return isJSON ? accepted(change, in: body, status: status) : notUnderstood
        case .later: return .later(pause, status: status)
        case .signedOut: return .signedOut
        case .gone: return isJSON ? .conflictWithDeletion : notUnderstood
        case .conflict:
            guard let conflictRecord, let record = body?[conflictRecord], hasID(record, of: change) else {
                return .conflictWithoutRecord
            }
            return .conflict(record)
        case .rejected: return isJSON ? .rejected(status: status) : notUnderstood
        }
    }

    private func accepted(_ change: PushedChange, in body: JSONText?, status: Int) -> WriteOutcome {
        if let failed, let errors = body?[failed], errors.kind != .null, errors != JSONText(list: []) {
            return .rejected(status: nil)
        }
        if change.kind == .delete { return .accepted(nil) }
        guard let found = body?[record], hasID(found, of: change) else {
            // Without its id, the service's record cannot be found again. The key protects the next try.
            return change.id == nil ? .notUnderstood(status: status) : .accepted(nil)
        }
        return .accepted(found)
    }

    /// Returns whether a value is the record of a change: an object with its id, or with any if the service names it.
    private func hasID(_ record: JSONText, of change: PushedChange) -> Bool {
        guard record.kind == .object, let name = record[idPath]?.name, !name.isEmpty else { return false }
        guard let id = change.id?.name else { return !TemporaryID.isOne(name) }
        return name.utf8.elementsEqual(id.utf8)
    }
}

/// The meanings of statuses, as the section `outbox` says.
struct PushStatuses: Hashable, Sendable {
    /// The meanings of an answer.
    enum Meaning: Sendable { case accepted, later, signedOut, gone, conflict, rejected }

    var later: Set<Int> = [408, 425, 429]
    var signedOut: Set<Int> = [401, 407]
    var conflict: Set<Int> = [409, 412]
    var rejected: Set<Int> = []

    func meaning(of status: Int, for kind: PushedChange.Kind) -> Meaning {
        if later.contains(status) { return .later }
        if signedOut.contains(status) { return .signedOut }
        if conflict.contains(status) { return .conflict }
        if rejected.contains(status) { return .rejected }
        switch status {
        case 200..<300: return .accepted
        // The record is gone, as the user wanted it.
        case 404, 410: return kind == .delete ? .accepted : kind == .update ? .gone : .rejected
        case 400..<500: return .rejected
        default: return .later
        }
    }
}

extension PushAnswer {
    /// The body as JSON; nil if it is empty. False says that the body is something else.
    var json: (value: JSONText?, isJSON: Bool) {
        if body.isEmpty { return (nil, true) }
        let value = try? JSONText(body)
        return (value, value != nil)
    }
}
