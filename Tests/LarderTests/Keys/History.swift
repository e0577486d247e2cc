import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// A small random history of one resource: loads, cancellations, clearings and faults, all determined by the seed.
struct History: Sendable {
    /// The broken promises of a run, and its transcript.
    struct Account: Equatable, Sendable {
        var transcript: [String] = []
        var broken: [String] = []
    }

    private static let strategies = [
        #""network-first""#, #"{ "use": "network-first", "patience": "30ms", "background": "2s" }"#, #""cache-first""#,
        #"{ "use": "stale-while-revalidate", "background": "2s" }"#, #""cache-only""#, #""network-only""#,
    ]

    let seed: UInt64

    /// Runs the history once. As long as its pantry is kept, the dictionaries of another run are at other addresses, so
    /// that they have another order.
    func run() throws -> (account: Account, pantry: SimulatedPantry) {
        try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
            var dice = SeededGenerator(seed: seed &* 31 &+ 7)
            let origin = CheckedOrigin(world: world, seed: seed)
            let simulated = try await SimulatedPantry(
                world, strategy: Self.strategies[dice.roll(Self.strategies.count)],
                validators: #"[{ "use": "age", "fresh": "40ms", "whileRevalidating": "100ms", "onError": "200ms" }]"#,
                around: dice.roll(2) == 0 ? "[]" : #"[{ "use": "timeout", "after": "90ms" }]"#,
                isStoreForeign: dice.roll(2) == 0, plugins: [origin.plugin], origin: #""checked""#)
            let teller = Teller(world)
            var loads: [Started<Void>] = []
            for number in 0..<24 {
                switch dice.roll(12) {
                case 0 where !loads.isEmpty: loads[dice.roll(loads.count)].cancel()
                case 1:
                    try await Self.clear(simulated, &dice, teller, origin)
                    origin.cleared()
                case 2: Self.disturb(simulated.store, &dice)
                case 3, 4: try await world.sleep(for: .milliseconds(dice.roll(60)))
                default: loads.append(Self.load(number, simulated, &dice, teller))
                }
            }
            for operation in [FaultyStore.Operation.read, .write, .remove] { simulated.store.set(nil, for: operation) }
            try await world.sleep(for: .seconds(7_300))
            return (Self.judged(simulated, origin, teller, loads), simulated)
        }
    }

    private static func load(
        _ number: Int, _ simulated: SimulatedPantry, _ dice: inout SeededGenerator, _ teller: Teller
    ) -> Started<Void> {
        let id = "\(dice.roll(2))"
        let scope = [nil, "a", "b"][dice.roll(3)]
        let mode: Request.Mode = [.normal, .normal, .normal, .refresh, .cachedOnly][dice.roll(5)]
        let deadline: Duration? = dice.roll(4) == 0 ? .milliseconds(dice.roll(80)) : nil
        let asText = dice.roll(4) == 0
        let request = simulated.feed.request(["id": id], scope: scope, mode: mode, deadline: deadline)
        let oldest = teller.begun(request)
        let feed = simulated.feed
        let text = simulated.pantry.resource("feed", as: String.self)
        return simulated.world.start {
            let line: String
            do {
                let loaded = try await asText ? text.load(request) : feed.load(request).map(Self.unquoted)
                teller.check(loaded.value, for: request.key, since: oldest)
                let account = "\(loaded.freshness) \(loaded.isStored) \(loaded.fellBack) \(loaded.trail)"
                line = "\(loaded.value) \(loaded.source) \(account)"
            } catch let error as LoadError {
                line = "\(error.code) \(error.message) store \(error.store != nil) \(error.trail)"
            } catch {
                line = "\(type(of: error))"
            }
            teller.tell("load \(number): \(line)")
        }
    }

    private static func unquoted(_ bytes: Data) -> String {
        String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
    }

    private static func clear(
        _ simulated: SimulatedPantry, _ dice: inout SeededGenerator, _ teller: Teller, _ origin: CheckedOrigin
    ) async throws {
        let scope = [nil, "a", "b"][dice.roll(3)]
        let id = "\(dice.roll(2))"
        let selections: [Selection] = [.all, .scope(scope), .key(simulated.key(["id": id], scope: scope))]
        let selection = selections[dice.roll(3)]
        do {
            switch selection {
            case .all: try await simulated.pantry.clear()
            case .scope: try await simulated.feed.clear(.scope(scope))
            case .key, .tag: try await simulated.feed.clear(["id": id], scope: scope)
            }
            teller.cleared(selection, after: origin.count)
        } catch {
            teller.tell("not cleared")
        }
    }

    private static func disturb(_ store: FaultyStore, _ dice: inout SeededGenerator) {
        let operation = [FaultyStore.Operation.read, .write, .remove][dice.roll(3)]
        store.set([nil, .fails, .takes(.milliseconds(dice.roll(30)))][dice.roll(3)], for: operation)
    }

    private static func judged(
        _ simulated: SimulatedPantry, _ origin: CheckedOrigin, _ teller: Teller, _ loads: [Started<Void>]
    ) -> Account {
        var account = History.Account()
        account.broken += origin.broken
        if !loads.allSatisfy(\.isOver) { account.broken.append("a load never ended") }
        if simulated.world.unfinished != 1 {
            account.broken.append("\(simulated.world.unfinished - 1) tasks never ended")
        }
        let metrics = simulated.feed.metrics
        if metrics.loads + metrics.cancelled + metrics.cachedOnly != loads.count {
            account.broken.append("\(loads.count) loads, but counted \(metrics)")
        }
        for (key, entry) in simulated.store.entries {
            teller.check(unquoted(entry.payload.bytes), for: key, since: teller.oldest(key))
        }
        account.broken += teller.account.broken
        account.transcript = teller.account.transcript
        account.transcript.append("origin called \(origin.count) times, \(simulated.store.bodyWrites) payloads written")
        account.transcript.append(simulated.store.entries.map { "\($0.key.text)" }.sorted().joined(separator: " "))
        return account
    }
}

/// A transcript that notices values that no origin sent or that were cleared.
private final class Teller: Sendable {
    private struct State {
        var account = History.Account()
        /// For each clearing, the number of calls when it ended. Answers of earlier calls must not be served again.
        var clearings: [(selection: Selection, calls: Int)] = []
    }

    private let state = Locked(State())
    private let world: SimulatedWorld

    init(_ world: SimulatedWorld) { self.world = world }

    var account: History.Account { state.withLock { $0.account } }

    func tell(_ line: String) { state.withLock { $0.account.transcript.append("\(world.uptime) \(line)") } }

    /// The number of the oldest call whose answer a load that begins now may return.
    func begun(_ request: Request) -> Int {
        tell("\(request.mode) \(request.key.text)")
        return oldest(request.key)
    }

    func cleared(_ selection: Selection, after calls: Int) {
        state.withLock { $0.clearings.append((selection, calls)) }
        tell("cleared")
    }

    func oldest(_ key: Key) -> Int {
        state.withLock { $0.clearings.last { $0.selection.contains(key, tags: []) }?.calls ?? 0 } + 1
    }

    func check(_ value: String, for key: Key, since oldest: Int) {
        let words = value.split(separator: " ")
        guard words.count == 2, words[0] == key.text, let call = Int(words[1]), call >= oldest else {
            return state.withLock { $0.account.broken.append("\(key.text): \(value), oldest allowed \(oldest)") }
        }
    }
}
