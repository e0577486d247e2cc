import FoundationEssentials
import Larder
import LarderSimulation
import Testing

#if DEBUG
    @Suite struct JudgingTests {
        /// Asks its own resource for the copy, or to give memory back, while it is asked about that copy.
        private final class Curious: Validator {
            let ask = Locked<(@Sendable () -> Void)?>(nil)

            func permit(_ metadata: Metadata, at now: Timestamp) -> Permissions {
                ask.withLock { $0 }?()
                return Permissions(.all)
            }
        }

        private static func loadTwice(_ ask: @escaping @Sendable (Pantry) -> Void) throws {
            let curious = Curious()
            try SimulatedWorld().run { world in
                let kitchen = try await Kitchen(
                    world, strategy: #""cache-first""#, validators: #"["curious"]"#, store: #""memory""#,
                    plugins: [.validator("curious", "Asks.") { (_: Context) in curious }])
                _ = try await kitchen.feed.load()
                let pantry = kitchen.pantry
                curious.ask.withLock { $0 = { ask(pantry) } }
                _ = try await kitchen.feed.load()
            }
        }

        /// The store waits for the validator: it would wait for itself for ever.
        @Test func aValidatorThatUsesItsStoreWhileItJudgesTraps() async {
            await #expect(processExitsWith: .failure) {
                try JudgingTests.loadTwice { pantry in
                    _ = pantry.resource("feed").answer(pantry.resource("feed").request())
                }
            }
            await #expect(processExitsWith: .failure) { try JudgingTests.loadTwice { $0.relieve() } }
        }
    }
#endif
