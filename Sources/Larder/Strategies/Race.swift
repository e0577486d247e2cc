extension Plugin {
    /// Whoever is first.
    static let race = Plugin.strategy(
        "race", "Asks the origin and looks for a copy at once; the first that may be shown wins.", .background
    ) { sides, background in Race(sides: sides, background: background) }
}

/// Asks the origin and looks for a copy at once; the first that may be shown wins. A call that loses goes on and is saved.
struct Race: Loader {
    let sides: Sides
    let background: Duration

    /// A fresh copy in memory has won before the call begins; the call is made all the same, behind it.
    func answer(_ call: Call) -> Loaded<Entry>? {
        guard let copy = sides.cached.answer(call.accepting(Self.shown)) else { return nil }
        sides.refresh(call, within: background)
        return copy
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        // Ends with the winner, or with nil when both sides have lost.
        let finish = Pursuit<Loaded<Entry>?>(in: sides.world)
        let losers = Locked(0)
        let lose: @Sendable () -> Void = {
            let isLast = losers.withLock { losers in
                losers += 1
                return losers == 2
            }
            if isLast { finish.end(.success(nil)) }
        }
        let calling = call.inBackground
        let live = Pursuit(in: sides.world) { [sides] in
            try await sides.live.load(calling)
        } then: { result in
            if case .success(let loaded) = result { finish.end(.success(loaded)) } else { lose() }
        }
        let looking = sides.world.spawn { [sides] in
            let copy = try? await sides.copy(call)
            if let shown = copy?.serving(anyOf: Self.shown) { finish.end(.success(shown)) } else { lose() }
        }
        do {
            let winner = try await finish.value(within: call.due.map { $0 - sides.world.uptime })
            live.cancel(after: background)
            if let winner, let loaded = winner {
                if loaded.source == .origin || loaded.source == .revalidated { call.trail.add(calling.trail.steps) }
                return loaded
            }
            if winner == nil { throw LoadError(.deadline, "the caller's deadline passed") }
            // Both lost: what counts is why the origin did, and whether the copy may stand in for that.
            guard let loaded = try await live.value(within: nil) else { throw Lookup.notCached }
            return loaded
        } catch let error as CancellationError {
            looking.cancel()
            live.cancel()
            throw error
        } catch {
            call.trail.add(calling.trail.steps)
            return try await sides.standIn(for: error, in: call)
        }
    }

    private static let shown: Uses = [.fresh, .whileRevalidating]
}
