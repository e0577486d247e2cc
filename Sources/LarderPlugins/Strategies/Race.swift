import LarderCore

extension Plugin {
    /// A strategy that uses the first answer.
    static let race = Plugin.strategy(
        "race", "Asks the origin and the store at the same time, and uses the first answer that is permitted.",
        .background, traits: { background in .waiting(nil, background) }
    ) { sides, background in Race(sides: sides, background: background) }
}

/// A loader that calls the origin and reads the store at the same time. The first permitted result wins. If the call
/// loses, it continues and its answer is saved; if the read loses, it is cancelled.
struct Race: Loader {
    let sides: Sides
    let background: Duration

    /// A permitted copy that is in memory is shown at once, and the call starts in the background.
    var hitRule: HitRule? { HitRule(sides, shows: Self.shown, refreshes: .all, within: background) }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if let copy = try await sides.copyWhileResting(call) { return copy }
        let looking = AwaitableWork(in: sides.world) { [sides] in try await sides.copy(call) }
        let named = try await copy(from: looking)?.revalidatable
        var calling = call.inBackground.knowing(named)
        calling.deadline = call.deadline
        let race = FirstSuccess<Loaded<Entry>>(in: sides.world)
        race.enter {
            let copy = (try? await looking.value()) ?? nil
            // If the origin failed first, the copy replaces its answer.
            guard let shown = copy?.shown(for: Self.shown, fellBack: race.failure != nil) else {
                throw LoadError.notCached
            }
            return shown
        }
        race.enter(lingering: background) { [sides, background, calling] in
            try await sides.ask(calling, linger: background)
        }
        do {
            let winner = try await race.result()
            if winner.fellBack || winner.source == .origin || winner.source == .revalidated {
                call.trail.add(calling.trail.steps)
            }
            return winner
        } catch let error as LoadError where error.code == .deadline {
            call.trail.note("origin", .noAnswer(after: nil))
            let copy = (try? looking.outcome?.get()) ?? nil
            if let shown = copy?.shown(for: .showing, fellBack: true) { return shown }
            throw error
        } catch {
            call.trail.add(calling.trail.steps)
            return try await sides.standIn(for: error, in: call)
        }
    }

    /// Returns the copy that the call may name, if the store finds it within 20 ms. A slower store does not delay the
    /// call.
    private func copy(from looking: AwaitableWork<CachedCopy?>) async throws -> CachedCopy? {
        do {
            return try await looking.value(within: .milliseconds(20)) ?? nil
        } catch let error as LoadError where error.code == .deadline {
            return nil
        }
    }

    private static let shown: Uses = [.fresh, .whileRevalidating]
}
