extension Plugin {
    /// Whoever is first.
    static let race = Plugin.strategy(
        "race", "Asks the origin and looks for a copy at once; the first that may be shown wins.", .background
    ) { sides, background in Race(sides: sides, background: background) }
}

/// Asks the origin and looks for a copy at once; the first that may be shown wins. A call that loses goes on and is saved;
/// a look that loses ends.
struct Race: Loader {
    let sides: Sides
    let background: Duration

    /// A fresh copy in memory has won before the call begins; the call is made all the same, behind it.
    func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
        let shown = uses.intersection(Self.shown)
        guard let copy = sides.cached.answer(request, codec: codec, for: shown) else { return nil }
        sides.refresh(Call(request, codec: codec), within: background)
        return copy
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if let copy = try await sides.copyWhileResting(call) { return copy }
        // Ends with the winner, or with nil when both sides have lost.
        let finish = Pursuit<Loaded<Entry>?>(in: sides.world)
        let lost = Locked<(live: (any Error)?, cached: Bool)>((nil, false))
        let found = Locked<CachedCopy?>(nil)
        let looking = Pursuit(in: sides.world) { [sides] in
            try await sides.copy(call)
        } then: { result in
            let copy = (try? result.get()) ?? nil
            found.withLock { $0 = copy }
            // Without the copy the origin would have won, had it not failed.
            if let shown = copy?.shown(for: Self.shown, fellBack: lost.withLock { $0.live != nil }) {
                finish.end(.success(shown))
            } else if lost.withLock({ lost in
                lost.cached = true
                return lost.live != nil
            }) {
                finish.end(.success(nil))
            }
        }
        defer { looking.cancel() }
        let calling = call.inBackground
        let live = Pursuit(in: sides.world) {
            let copy = (try? await looking.value(within: Self.headStart)) ?? nil
            return try await ask(calling.knowing(copy?.revalidatable), until: call.due)
        } then: { result in
            switch result {
            case .success(let loaded): finish.end(.success(loaded))
            // An answer stands, even if it is an error; and at the caller's deadline there is nothing more to wait for.
            case .failure(let error as LoadError) where error.isAnswer || error.code == .deadline:
                finish.end(.failure(error))
            case .failure(let error):
                let isLast = lost.withLock { lost in
                    lost.live = error
                    return lost.cached
                }
                if isLast { finish.end(.success(nil)) }
            }
        }
        let winner: Loaded<Entry>??
        do {
            winner = try await finish.value(within: nil)
        } catch let error as LoadError where error.code == .deadline {
            return try overdue(call, found.withLock { $0 })
        } catch {
            live.cancel()
            call.trail.add(calling.trail.steps)
            return try await sides.standIn(for: error, in: call)
        }
        live.cancel(after: background)
        guard let winner else { throw CancellationError() }
        if winner.map({ $0.fellBack || $0.source == .origin || $0.source == .revalidated }) ?? true {
            call.trail.add(calling.trail.steps)
        }
        if let loaded = winner { return loaded }
        // What counts is why the origin lost, and whether the copy may stand in for that.
        return try await sides.standIn(for: lost.withLock { $0.live } ?? Lookup.notCached, in: call)
    }

    /// Asks the origin; at the caller's deadline the call goes on without being waited for.
    private func ask(_ call: Call, until due: Duration?) async throws -> Loaded<Entry> {
        guard let joined = sides.join(call) else { return try await sides.live.load(call) }
        if let loaded = try await joined.value(within: due.map { $0 - sides.world.uptime }) { return loaded }
        joined.goOn(for: background)
        throw Lookup.overdue
    }

    /// The copy that was found by the caller's deadline, if it may be shown.
    private func overdue(_ call: Call, _ copy: CachedCopy?) throws -> Loaded<Entry> {
        call.trail.note("origin", "no answer by the caller's deadline")
        if let copy = copy?.shown(for: .showing, fellBack: true) { return copy }
        throw Lookup.overdue
    }

    /// How long the call waits for the copy it may name. A store that is slower than that does not hold it up.
    private static let headStart: Duration = .milliseconds(20)

    private static let shown: Uses = [.fresh, .whileRevalidating]
}
