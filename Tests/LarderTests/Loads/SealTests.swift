import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// The graph delivers only values that its two sides returned for this load, none that a strategy has from elsewhere.
@Suite struct SealTests {
    /// A strategy that returns the value of an earlier load.
    private final class Memory: Loader {
        let sides: Sides
        let kept = Locked<Loaded<Entry>?>(nil)

        init(_ sides: Sides) { self.sides = sides }

        func load(_ call: Call) async throws -> Loaded<Entry> {
            if let kept = kept.withLock({ $0 }) { return kept }
            let loaded = try await sides.load(call)
            kept.withLock { $0 = loaded }
            return loaded
        }
    }

    /// A strategy that serves the copy that an earlier load found.
    private final class CopyKeeper: Loader {
        let sides: Sides
        let kept = Locked<CachedCopy?>(nil)

        init(_ sides: Sides) { self.sides = sides }

        func load(_ call: Call) async throws -> Loaded<Entry> {
            if let shown = kept.withLock({ $0 })?.shown(for: .showing) { return shown }
            let copy = try await sides.copy(call)
            kept.withLock { $0 = copy }
            return try await sides.load(call)
        }
    }

    @Test func loadedValueOfEarlierLoadIsRefused() throws {
        let strategies: [Plugin] = [
            .strategy("keeper", "Keeps a value.") { Memory($0) },
            .strategy("keeper", "Keeps a copy.") { CopyKeeper($0) },
        ]
        for strategy in strategies {
            try SimulatedWorld().run { world in
                let simulated = try await SimulatedPantry(world, strategy: #""keeper""#, plugins: [strategy])
                simulated.stock("old", age: .zero)
                #expect(try await simulated.feed.load().text == "value")
                try await simulated.feed.clear()
                let failure = try await simulated.start().failure()
                #expect(failure.message.hasPrefix("the strategy returned a value that neither of its sides gave it"))
            }
        }
    }
}
