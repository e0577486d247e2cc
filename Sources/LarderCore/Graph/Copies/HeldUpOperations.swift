import LarderSystem

/// Operations on keys that are held up, because an earlier operation was given up and has not ended.
///
/// An operation counts as failed then. It is carried out when the turn is free, unless a newer one is postponed, too.
extension StoreAccess {
    /// Saves an answer later. Until then, an older copy is shown only when the origin fails.
    func saveLater(
        _ entry: Entry, for request: Request, ticket: Ticket, isUnchanged: Bool, trail: Trail.Recorder
    ) async {
        if !isUnchanged { await noteOutdated(by: entry, for: request) }
        postpone(ticket) { storeAccess in
            _ = await storeAccess.save(
                entry, for: request, ticket: ticket, isUnchanged: isUnchanged, trail: Trail.Recorder())
        }
        _ = meter.report(StoreError.heldUp, effect: .notSaved, trail: trail)
        sendUnsaved(entry, for: request, ticket)
    }

    /// Removes or expires the copy later that is older than an answer which is not kept. See
    /// ``leaveUnsaved(_:for:ticket:isUnchanged:matchesNoOther:trail:)``.
    func leaveUnsavedLater(
        _ entry: Entry, for request: Request, ticket: Ticket, isUnchanged: Bool,
        matchesNoOther: Bool, trail: Trail.Recorder
    ) async {
        if isUnchanged {
            keys.hide(variations.entryKey(of: request), because: .unkeepable)
        } else {
            await noteOutdated(by: entry, for: request)
        }
        postpone(ticket) { storeAccess in
            await storeAccess.leaveUnsaved(
                entry, for: request, ticket: ticket, isUnchanged: isUnchanged,
                matchesNoOther: matchesNoOther, trail: Trail.Recorder())
        }
        _ = meter.report(StoreError.heldUp, effect: .notRemoved, trail: trail)
        if !matchesNoOther { sendUnsaved(entry, for: request, ticket) }
    }

    /// Removes the entry later that the origin says is gone. Until then, it is hidden.
    func dropLater(_ request: Request, ticket: Ticket, trail: Trail.Recorder) {
        keys.hide(variations.entryKey(of: request), because: .gone)
        postpone(ticket) { await $0.drop(request, ticket: ticket, trail: Trail.Recorder()) }
        _ = meter.report(StoreError.heldUp, effect: .notDropped, trail: trail)
    }

    /// Remembers that the copy for a request is older than an answer. A copy that must be hidden stays hidden.
    private func noteOutdated(by entry: Entry, for request: Request) async {
        let newest = await NewestAnswer(entry, in: world)
        let key = variations.entryKey(of: request)
        if keys.hiddenReason(of: key)?.reasonToHide == nil { keys.hide(key, because: .outdated(by: newest)) }
    }

    /// Sends an answer to the streams of requests with the same fields, because it is not known yet by which fields the
    /// answers for the key vary.
    private func sendUnsaved(_ entry: Entry, for request: Request, _ ticket: Ticket) {
        news.send(entry, for: request, varyingBy: ["*"], isKept: false, since: ticket)
    }

    private func postpone(_ ticket: Ticket, _ work: @escaping @Sendable (StoreAccess) async -> Void) {
        keys.postpone(ticket) { [weak self] in
            guard let self else { return }
            world.spawn { await work(self) }
        }
    }
}

extension StoreError {
    fileprivate static var heldUp: StoreError { StoreError("an earlier operation on the entry has not ended") }
}
