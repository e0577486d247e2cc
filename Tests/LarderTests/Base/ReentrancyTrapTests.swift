import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

#if DEBUG
    @Suite struct JudgingTests {
        /// Asks its own resource for the copy, or to give memory back, while it is asked about that copy.
        private final class Curious: Validator {
            let ask = Locked<(@Sendable () -> Void)?>(nil)

            func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
                ask.withLock { $0 }?()
                return Permissions(.all)
            }
        }

        private static func loadTwice(_ ask: @escaping @Sendable (Pantry) -> Void) throws {
            let curious = Curious()
            try SimulatedWorld().run { world in
                let simulated = try await SimulatedPantry(
                    world, strategy: #""cache-first""#, validators: #"["curious"]"#, store: #""memory""#,
                    plugins: [.validator("curious", "Asks.") { (_: Context) in curious }])
                _ = try await simulated.feed.load()
                let pantry = simulated.pantry
                curious.ask.withLock { $0 = { ask(pantry) } }
                _ = try await simulated.feed.load()
            }
        }

        /// Without the trap, an answer would be nil after some milliseconds, and `relieve()` would wait for ever.
        @Test func validatorThatUsesItsStoreTraps() async {
            await #expect(processExitsWith: .failure) {
                try JudgingTests.loadTwice { pantry in
                    _ = pantry.resource("feed").answer(pantry.resource("feed").request())
                }
            }
            await #expect(processExitsWith: .failure) { try JudgingTests.loadTwice { $0.relieve() } }
        }
    }
#endif
