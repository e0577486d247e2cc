import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation

/// An origin whose behavior a walk changes. Every payload contains its key and is different from all others.
final class WalkOrigin: Loader {
    enum Mood: CaseIterable, Sendable {
        case fine, slow, down, moody, hanging, gone
    }

    private struct State {
        var dice: SeededGenerator
        var mood = Mood.moody
        var count = 0
        var sent: [Key: Set<String>] = [:]
    }

    private let world: SimulatedWorld
    private let state: Locked<State>

    init(world: SimulatedWorld, seed: UInt64) {
        self.world = world
        state = Locked(State(dice: SeededGenerator(seed: seed ^ 0x5EED)))
    }

    var plugin: Plugin { .origin("walked", "Answers, fails or hangs.") { (_: Context) in self } }

    func set(_ mood: Mood) { state.withLock { $0.mood = mood } }

    /// Returns whether the origin ever sent this text for the key.
    func hasSent(_ text: String, for key: Key) -> Bool { state.withLock { $0.sent[key]?.contains(text) == true } }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let (number, mood, dice) = state.withLock { state in
            state.count += 1
            let roll = state.dice.roll(1_000)
            let moods: [Mood] = [.fine, .fine, .fine, .slow, .down, .gone, .hanging]
            return (state.count, state.mood == .moody ? moods[roll % 7] : state.mood, roll)
        }
        let waits: [Mood: Duration] = [.slow: .milliseconds(dice), .hanging: .seconds(600)]
        try await world.sleep(for: waits[mood] ?? .milliseconds(dice % 40))
        switch mood {
        case .down: throw LoadError.status(dice % 2 == 0 ? 503 : 429, retryAfter: dice % 3 == 0 ? .seconds(2) : nil)
        case .gone: throw LoadError.status(dice % 4 == 0 ? 403 : 404)
        default: break
        }
        if call.known?.metadata.etag != nil, dice % 3 == 0 { return try .unchanged(call) }
        let text = "\"\(call.key.text) \(number) \(String(repeating: "x", count: dice % 300))\""
        state.withLock { _ = $0.sent[call.key, default: []].insert(text) }
        let metadata = Metadata(etag: number % 2 == 0 ? "\(number)" : nil, contentType: "application/json")
        return Loaded(Entry(Data(text.utf8), metadata))
    }
}
