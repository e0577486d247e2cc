extension Pantry {
    /// Forgets every copy of every resource. Calls under way save nothing.
    ///
    /// Like every clearing, this one reaches all that was ever kept below the cache folder: also what a policy kept that is
    /// gone or says something else now. It is written down first: if the process is killed in the middle of it, the next
    /// start finishes it before the pantry is made.
    ///
    /// A folder that no policy names any more and nobody uses is deleted whole, with what other accounts have in it. One that
    /// another process uses is left to that process: it deletes what is meant when it starts next. A clearing does not
    /// reach what another running process keeps in memory, nor what that process is about to save.
    ///
    /// - Throws: ``LoadError`` naming the resources whose store failed, after all were tried, or when the clearing could
    ///   not be written down. What was not cleared then will be with the next start or reload.
    public func clear() async throws {
        try await clear(.all)
    }

    /// Forgets every copy of one account, or of nobody, in every resource: after a logout, say. See ``clear()``.
    ///
    /// - Throws: ``LoadError`` naming the resources whose store failed, after all were tried, or when the clearing could
    ///   not be written down.
    public func clear(scope: String?) async throws {
        try await clear(.scope(scope))
    }

    /// Forgets every copy that bears this tag, in every resource. Calls under way do not save what bears it. See
    /// ``clear()``.
    ///
    /// - Throws: ``LoadError`` naming the resources whose store failed, after all were tried, or when the clearing could
    ///   not be written down.
    public func clear(tag: String) async throws {
        try await clear(.tag(tag))
    }

    private func clear(_ selection: Selection) async throws {
        let outcome = await clear(selection, of: nil)
        var message: [String] = []
        if !outcome.failed.isEmpty { message.append("not cleared: \(outcome.failed.joined(separator: ", "))") }
        if let rest = outcome.rest { message.append(StoreError.reason(for: rest)) }
        guard let first = outcome.store ?? outcome.rest else { return }
        var error = LoadError(.failed, message.joined(separator: "; "))
        error.store = first
        throw error
    }

    /// The failures of a clearing.
    struct ClearingOutcome {
        /// The resources whose store failed.
        var failed: [String] = []
        /// The first store's failure.
        var store: (any Error)?
        /// Another failure: the clearing was not written down, or something that no store holds was not deleted.
        var rest: (any Error)?
    }

    /// Forgets the selected entries of one resource or of all: writes down that it is to be done, lets the stores do it, and
    /// deletes what no store holds.
    func clear(_ selection: Selection, of resource: String?) async -> ClearingOutcome {
        let clearing = Clearing(selection, resource: resource)
        let places = composer.places
        var outcome = ClearingOutcome()
        var (isWritten, isKnown) = (true, true)
        do {
            // While no policies are swapped: a store that is made afterwards sees what is written.
            isKnown = try await world.blocking { [policies] in
                try policies.withLock { _ in try places.begin(clearing) }
            }
        } catch {
            isWritten = false
            outcome.rest = StoreError("the clearing cannot be written down: \(StoreError.reason(for: error))")
        }
        var done: Set<PlaceName> = []
        for slot in slots where resource == nil || slot.name == resource {
            let cleared = await slot.clear(selection)
            done.formUnion(cleared.places)
            guard let failure = cleared.failure else { continue }
            outcome.failed.append(slot.name)
            outcome.store = outcome.store ?? failure
        }
        guard isKnown else { return outcome }
        let settled = try? await world.blocking { [done, isWritten] in
            places.settle([clearing.id: done], unwritten: isWritten ? nil : clearing)
        }
        outcome.rest = outcome.rest ?? settled?.failure
        return outcome
    }

    /// Finishes what clearings have left to be done, and deletes places that nobody has used for a week. What cannot be done
    /// stays for the next time; its stores answer nothing before it is done.
    func finishClearings() async {
        let places = composer.places
        let settled = try? await world.blocking { [self] in
            guard places.needsSettling(at: world.now) else { return Settlement() }
            return places.settle(
                keeping: graphs.reduce(into: Set<PlaceName>()) { $0.formUnion($1.places.names) })
        }
        guard let settled else { return }
        var failure = settled.failure
        var done: [String: Set<PlaceName>] = [:]
        for (clearing, names) in settled.due {
            let folders = Set(names.map(\.folder))
            for slot in slots where folders.contains(PlaceName.folder(of: slot.name)) {
                let cleared = await slot.finish(clearing, in: names)
                done[clearing.id, default: []].formUnion(cleared.places)
                failure = failure ?? cleared.failure
            }
        }
        if !done.isEmpty {
            let rest = try? await world.blocking { [done] in places.settle(done) }
            failure = failure ?? rest?.failure
        }
        guard let failure else { return }
        let note = "a clearing is not finished: \(StoreError.reason(for: failure))"
        hearing.decisions.send(Decision(at: world.now, resource: nil, revision: nil, kind: .storeFault, note: note))
    }
}
