import LarderSystem

/// When an operation on an entry may still be carried out.
enum WriteCondition {
    /// No newer answer was written, and the key was not cleared since the load began.
    case notOvertaken
    /// The key was neither written nor cleared since the ticket was taken, and no other operation has the turn.
    case untouched
}

/// The end of an operation on an entry.
enum WriteOutcome {
    /// It was carried out.
    case done
    /// It was not carried out, because its condition did not hold.
    case overtaken
    /// It was not carried out, because operations that were given up have not ended.
    case heldUp
}

/// The operations that may not be carried out after a clearing because they began before it.
enum VoidedOperations {
    /// Every operation, because what was cleared must not come back.
    case everything
    /// The operations that copy or remove what was read before.
    case readings
    /// None, because this repeats a clearing that failed.
    case nothing
}

// The order of writes: decides which answers may be written, and orders the writes of each key one after another.
//
// The variants of a key share its turns and its clearings. Which answer is the newest is remembered for each variant.
//
// An answer is newer if its call began later. An older answer never overwrites a newer one. An answer is not written if its
// key was cleared after the load of the answer began.
//
// An operation that was given up keeps its turn until it ends. So it cannot overwrite later ones. It may never end, so no
// load waits for it: later operations on the key are held up, and the newest of them is carried out when the turn is free.
extension KeyTable {
    /// The number of the last clearing by another process.
    var position: UInt64 { others?.position ?? 0 }

    /// Returns a ticket for a call that begins now. `load` is the ticket of the load that makes the call, if the load
    /// began earlier. `entryKey` may be a variant.
    func begin(_ entryKey: Key, for load: Ticket? = nil) -> Ticket {
        let position = load?.position ?? position
        // The record of a ticket that exists needs no search.
        if let load, load.key == entryKey.base {
            return withTurns(of: load.line) { writes in
                ticket(
                    writes, entryKey: entryKey, sequence: number(), since: (load.since, position),
                    writes: writes.writes)
            }
        }
        return change(entryKey) { state in
            let sequence = number()
            return ticket(
                state, entryKey: entryKey, sequence: sequence, since: (load?.since ?? sequence, position),
                writes: state.writes)
        }
    }

    /// Returns a ticket for a call that begins now, in a change of a key's record.
    ///
    /// - Parameters:
    ///   - load: the ticket of the load that makes the call; nil if the load begins now.
    ///   - position: the number of the last clearing by another process when the load began.
    func ticket(for state: KeyState, in load: Ticket? = nil, since position: UInt64) -> Ticket {
        let sequence = number()
        return ticket(
            state, entryKey: state.key, sequence: sequence, since: (load?.since ?? sequence, position),
            writes: state.writes)
    }

    private func ticket(
        _ line: KeyWrites, entryKey: Key, sequence: UInt64, since: (sequence: UInt64, position: UInt64),
        writes: UInt64
    ) -> Ticket {
        line.tickets += 1
        return Ticket(
            line, entryKey: entryKey, sequence: sequence, since: since.sequence, position: since.position,
            writes: writes, of: self)
    }

    /// Returns the mark of a reading that begins now, in a load that has a ticket. It becomes a ticket only if the reading
    /// leads to a change of the store.
    func mark(_ entryKey: Key, for load: Ticket?) -> ReadingMark {
        let holder = if let load, load.key == entryKey.base { load } else { begin(entryKey) }
        let position = position
        return withTurns(of: holder.line) { writes in
            ReadingMark(
                keys: self, holder: holder, entryKey: entryKey, sequence: number(), position: position,
                writes: writes.writes)
        }
    }

    /// Returns a ticket for a reading that began earlier.
    fileprivate func begin(_ mark: ReadingMark) -> Ticket {
        withTurns(of: mark.holder.line) { writes in
            ticket(
                writes, entryKey: mark.entryKey, sequence: mark.sequence, since: (mark.sequence, mark.position),
                writes: mark.writes)
        }
    }

    // MARK: Clearings

    /// Returns whether the key was cleared since the load began.
    func isVoid(_ ticket: Ticket) -> Bool {
        withTurns(of: ticket.line) { $0.cleared > ticket.since } || isVoidElsewhere(ticket, tags: [])
    }

    /// Returns whether another process has cleared an entry with these tags since the load began.
    private func isVoidElsewhere(_ ticket: Ticket, tags: [String]) -> Bool {
        others?.concern(ticket.entryKey, tags: tags, after: ticket.position) ?? false
    }

    /// Returns whether another process has cleared anything that may concern a key since the load of a ticket began.
    func mayBeVoidElsewhere(_ key: Key, since position: UInt64) -> Bool {
        others?.mayConcern(key, after: position) ?? false
    }

    func mayBeVoid(_ ticket: Ticket) -> Bool {
        if mayBeVoidElsewhere(ticket.entryKey, since: ticket.position) { return true }
        return withTurns(of: ticket.line) { writes in
            writes.cleared > ticket.since || writes.clearedTags.values.contains { $0 > ticket.since }
        } || clearings.withLock { $0.values.contains { $0.mayConcern(ticket.key) } }
    }

    /// Returns whether an entry with these tags was cleared since the load began, or is being cleared.
    func isVoid(_ ticket: Ticket, tags: [String]) -> Bool {
        isVoidElsewhere(ticket, tags: tags) || isBeingCleared(ticket.entryKey, tags: tags)
            || withTurns(of: ticket.line) { $0.isCleared(tags, since: ticket.since) }
    }

    /// Returns whether an entry under `key` with these tags is being cleared by this process.
    private func isBeingCleared(_ key: Key, tags: [String]) -> Bool {
        clearings.withLock { clearings in
            !clearings.isEmpty && clearings.values.contains { $0.concerns(key, tags: tags) }
        }
    }

    // MARK: Operations

    /// Does `work`, which concerns the entry under the ticket's key and with these tags, in its turn, if the condition
    /// holds then.
    func perform(
        _ ticket: Ticket, if condition: WriteCondition, tags: [String] = [], _ work: () async throws -> Void
    ) async rethrows -> WriteOutcome {
        try await perform(ticket, if: condition, tags: tags, at: { ticket.entryKey }, work)
    }

    /// Does `work`, which concerns an entry with these tags, in its turn, if the condition holds then.
    ///
    /// - Parameter place: returns the key of the entry: the ticket's base key or a variant of it. It is called in the
    ///   turn, because earlier turns may change which variant it is.
    func perform(
        _ ticket: Ticket, if condition: WriteCondition = .notOvertaken, tags: [String] = [], at place: () async -> Key,
        _ work: () async throws -> Void
    ) async rethrows -> WriteOutcome {
        if !takeFreeTurn(ticket) {
            // The operation that has the turn touches the key.
            if condition == .untouched { return .overtaken }
            guard await waitForTurn(ticket.line) else { return .heldUp }
        }
        let entryKey = await place()
        guard allows(ticket, condition, at: entryKey, tags: tags) else {
            endTurn(ticket)
            return .overtaken
        }
        do {
            try await work()
        } catch {
            // A write that failed may have changed some tiers. One that was given up may still be carried out.
            endTurn(
                ticket, condition, afterWriting: entryKey, unfinished: (error as? StoreError)?.unfinished ?? [])
            throw error
        }
        endTurn(ticket, condition, afterWriting: entryKey)
        return .done
    }

    /// Calls `begin` when the operations that hold up the ticket's key have ended. Calls it at once if they have ended
    /// already. Of several operations on a key, only that of the newest ticket begins, so that few wait however long
    /// the others take.
    func postpone(_ ticket: Ticket, _ begin: @escaping @Sendable () -> Void) {
        let line = ticket.line
        // Released without the lock, because it may hold the last reference to a ticket.
        var replaced: (sequence: UInt64, begin: @Sendable () -> Void)?
        let isHeldUp = withTurns(of: line) { line in
            if line.isHeldUp, line.postponed?.sequence ?? 0 < ticket.sequence {
                replaced = line.postponed
                line.postponed = (ticket.sequence, begin)
            }
            return line.isHeldUp
        }
        withExtendedLifetime(replaced) {}
        if !isHeldUp { begin() }
    }

    // MARK: Turns

    /// Takes the turn if it is free. ``endTurn(_:)`` or ``endTurn(_:_:afterWriting:unfinished:)`` must follow.
    func takeFreeTurn(_ ticket: Ticket) -> Bool { withTurns(of: ticket.line) { $0.takeTurn() } }

    /// Returns whether an operation on the entry under `entryKey` may be carried out now, in its turn. Until the turn ends,
    /// clearings by other processes wait for it.
    func allows(
        _ ticket: Ticket, _ condition: WriteCondition = .notOvertaken, at entryKey: Key, tags: [String]
    ) -> Bool {
        // The claim comes before the look: a clearing that is not seen here sees the claim. A clearing by this process that is
        // not seen here sees the turn.
        let claim = others?.claim(entryKey)
        let isVoid =
            others?.concern(entryKey, tags: tags, after: ticket.position) ?? false
            || isBeingCleared(entryKey, tags: tags)
        return withTurns(of: ticket.line) { writes in
            writes.claim = claim
            if isVoid || writes.isCleared(tags, since: ticket.since) { return false }
            switch condition {
            case .notOvertaken: return writes.newest(at: entryKey) < ticket.sequence
            case .untouched: return writes.writes == ticket.writes
            }
        }
    }

    /// Ends a turn in which nothing was done.
    func endTurn(_ ticket: Ticket) { endTurn(ticket.line) }

    /// Ends a turn in which an operation was carried out, or failed. If some were given up in it, later operations on the
    /// key are held up until these have ended. The ticket keeps the line alive until then.
    func endTurn(
        _ ticket: Ticket, _ condition: WriteCondition = .notOvertaken, afterWriting entryKey: Key,
        unfinished: [UnfinishedOperation] = []
    ) {
        let (end, heldUp) = withTurns(of: ticket.line) { writes -> (KeyWrites.TurnEnd?, [KeyWrites.Waiter]) in
            writes.writes += 1
            if condition == .notOvertaken { writes.wrote(entryKey, ticket.sequence) }
            return unfinished.isEmpty ? (writes.endTurn(), []) : (nil, writes.holdUp())
        }
        if let end { return end.carryOut() }
        for waiter in heldUp { waiter.task.resume(returning: false) }
        UnfinishedOperation.whenOver(unfinished) { self.endTurn(ticket.line) }
    }

    private func endTurn(_ line: KeyWrites) {
        withTurns(of: line) { $0.endTurn() }.carryOut()
    }

    /// Waits for the turn.
    ///
    /// - Parameter isPatient: whether to wait for operations that were given up, too.
    /// - Returns: whether the caller has the turn. It has not if operations that were given up hold it up.
    private func waitForTurn(_ line: KeyWrites, isPatient: Bool = false) async -> Bool {
        await Suspension.wait { task in
            withTurns(of: line) { line in
                if line.takeTurn() { return true }
                if line.isHeldUp, !isPatient { return false }
                line.queue.append(KeyWrites.Waiter(task: task, isPatient: isPatient))
                return nil
            }
        }
    }

    /// Waits until no operation has the turn of the ticket's key. Returns false if operations that were given up hold it
    /// up.
    func waitForFreeTurn(_ ticket: Ticket) async -> Bool {
        guard await waitForTurn(ticket.line) else { return false }
        endTurn(ticket)
        return true
    }

    /// Waits for the writes of the selected keys that are under way, then does `work`, which removes the selected
    /// entries.
    ///
    /// No entry is written for these keys until `work` ends, because `work` might remove it. That holds also if `work`
    /// was given up and goes on.
    ///
    /// - Parameters:
    ///   - voided: the operations to discard, among those of loads that began before the clearing ended.
    ///   - limit: the longest time for all of this; nil for no limit. If there are writes to wait for, the limit is at
    ///     most ``LimitedStore/selectionLimit``, because a write that was given up may never end.
    /// - Throws: the error of `work`, or that of the limit. `work` then goes on, or begins later.
    func clear(
        _ selection: Selection, voiding voided: VoidedOperations = .everything, within limit: Duration? = nil,
        in world: any World, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        let number = number()
        // First, so that an operation whose turn is not seen here sees the clearing.
        clearings.withLock { $0[number] = selection }
        let busy = all { $0.isBusy && selection.mayConcern($0.key) ? $0.key : nil }
        var unfinished: [UnfinishedOperation] = []
        defer {
            void(selection, voided)
            UnfinishedOperation.whenOver(unfinished) { [clearings] in clearings.withLock { $0[number] = nil } }
        }
        let most = busy.isEmpty ? limit : min(limit ?? .forever, LimitedStore.selectionLimit)
        do {
            guard let most else { return try await work() }
            try await AwaitableWork.limited(to: most, in: world, isCancellable: false) { [self] in
                await waitForTurns(of: busy)
                try await work()
            }
        } catch {
            unfinished = (error as? StoreError)?.unfinished ?? []
            throw error
        }
    }

    /// Discards the operations that began before a clearing ended.
    private func void(_ selection: Selection, _ voided: VoidedOperations) {
        if voided == .nothing { return }
        let now = number()
        changeAll(where: { selection.mayConcern($0.key) }) { state in
            if voided == .readings {
                state.writes += 1
            } else if case .tag(let tag) = selection {
                state.clearedTags[tag] = now
            } else {
                state.cleared = now
                state.waitingRefresh = nil
            }
        }
    }

    private func waitForTurns(of keys: [Key]) async {
        for key in keys {
            let ticket = begin(key)
            if await waitForTurn(ticket.line, isPatient: true) { endTurn(ticket.line) }
            withExtendedLifetime(ticket) {}
        }
    }
}

/// The moment at which a reading of a key began, among the writes and clearings of the key.
struct ReadingMark {
    fileprivate let keys: KeyTable
    /// Keeps the key's numbers of writes and clearings.
    fileprivate let holder: Ticket
    /// The key that is read: that of the request or a variant of it.
    let entryKey: Key
    fileprivate let sequence: UInt64
    fileprivate let position: UInt64
    fileprivate let writes: UInt64

    /// Returns a ticket for an operation on the entry that was read.
    func ticket() -> Ticket { keys.begin(self) }
}
