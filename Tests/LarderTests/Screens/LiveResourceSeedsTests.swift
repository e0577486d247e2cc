import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Random lives of a screen: logouts, reloads, tunnels, policies that change, and an origin that is slow or fails.
@Suite struct LiveResourceSeedsTests {
    /// An origin whose answers say for whom they are and how many logouts there had been when the call began.
    private final class LifeOrigin: Loader {
        let logouts = Locked(0)
        let world: SimulatedWorld
        /// Whether it answers every call.
        let isSound = Locked(false)

        init(_ world: SimulatedWorld) { self.world = world }

        func load(_ call: Call) async throws -> Loaded<Entry> {
            let text = "\(call.request.key.scope ?? "nobody") \(logouts.withLock { $0 })"
            if isSound.withLock({ $0 }) { return Loaded(Entry(Data(text.utf8), Metadata(etag: "e"))) }
            try await world.sleep(for: .milliseconds(Int64(world.random() % 4) * 700))
            switch world.random() % 8 {
            case 0: throw LoadError.status(503)
            case 1: throw LoadError.status(403)
            case 2 where call.known != nil, 3 where call.known != nil: return try .unchanged(call) { _ in }
            default: return Loaded(Entry(Data(text.utf8), Metadata(etag: "e", tags: ["t"])))
            }
        }
    }

    private struct Life {
        let world: SimulatedWorld
        let pantry: Pantry
        let origin: LifeOrigin
        let seed: UInt64
        var feed: Resource<Data> { pantry.resource("feed") }

        static let strategies = [
            #""cache-first""#, #""network-first""#, #"{ "use": "network-first", "patience": "500ms" }"#,
            #""stale-while-revalidate""#, #"{ "use": "cache-first", "patience": "500ms" }"#,
        ]

        static func policy(_ number: UInt64) -> String {
            """
            { "resource": "feed", "origin": "life", "strategy": \(strategies[Int(number % 5)]), "store": "memory",
              "validators": [{ "use": "age", "fresh": "5m", "whileRevalidating": "20m", "onError": "1h" }] }
            """
        }

        func dice(_ sides: UInt64) -> UInt64 { world.random() % sides }

        /// Checks what is shown at this moment.
        func check(_ live: LiveResource<Data>) {
            func wrong(_ text: String) { Issue.record("seed \(seed), \(world.uptime): \(text): \(live.words)") }
            let (phase, age) = (live.phase, live.age)
            let text = phase.value.map { String(decoding: $0, as: UTF8.self) }
            if let text, text != "alice \(origin.logouts.withLock { $0 })" { wrong("data of somebody else: \(text)") }
            if phase.error != nil, phase.isLoading { wrong("an error beside a spinner") }
            if phase.value != nil, age == nil { wrong("a value without its age") }
            switch phase {
            case .fresh: if let age, age >= .seconds(300) { wrong("old data as fresh") }
            case .stale(_, let shown, _): if shown == nil || shown != age { wrong("stale without its age") }
            case .failed(_, let shown?), .offline(let shown?):
                if shown.age != age { wrong("a value without its age") }
            default: break
            }
        }

        /// Lets time pass, and looks often.
        func pass(_ time: Duration, _ live: LiveResource<Data>) async throws {
            for _ in 0..<5 {
                try await world.sleep(for: time / 5)
                check(live)
            }
        }

        func step(_ live: LiveResource<Data>) async throws {
            let tasks: [Duration] = [.milliseconds(1), .milliseconds(300), .seconds(3), .seconds(200)]
            try await pass(tasks[Int(dice(4))], live)
            switch dice(12) {
            case 0, 1:
                origin.logouts.withLock { $0 += 1 }
                let clearing = world.start { [pantry] in try await pantry.clear(.scope("alice")) }
                try await world.settle()
                check(live)
                try await clearing.value()
                check(live)
            case 2: world.network = .offline
            case 3, 4: world.network = .online
            case 5: await live.reload()
            case 6: world.spawn { [weak live] in await live?.refresh() }
            case 7: try await pantry.replace(policies: ["feed": Self.policy(dice(5))])
            case 8: _ = try? await feed.load(scope: "alice", mode: .refresh)
            case 9: _ = try? await feed.load(scope: "bob", mode: .refresh)
            case 10: world.spawn { [weak live] in await live?.reload() }
            default: try await feed.clear(.tag("t"))
            }
            check(live)
        }

        func run() async throws {
            for _ in 0..<3 {
                let live = feed.live(scope: "alice")
                check(live)
                for _ in 0..<8 { try await step(live) }
                // All is well in the end.
                world.network = .online
                origin.isSound.withLock { $0 = true }
                try await world.sleep(for: .seconds(10))
                await live.refresh()
                check(live)
                let text = "fresh alice \(origin.logouts.withLock { $0 })"
                if live.words != text { Issue.record("seed \(seed): at the end \(live.words)") }
                origin.isSound.withLock { $0 = false }
            }
        }
    }

    @Test func screenNeverShowsWrongThingsInAnyLife() throws {
        for seed in UInt64(1)...1_000 {
            // A leak is an error.
            try SimulatedWorld(seed: seed, interleaving: .shuffled).run { world in
                let origin = LifeOrigin(world)
                let life = Plugin.origin("life", "Answers, fails or is slow.") { (_: Context) in origin }
                let simulated = try await SimulatedPantry(
                    ["feed": Life.policy(world.random())], in: world, plugins: [life])
                try await Life(world: world, pantry: simulated.pantry, origin: origin, seed: seed).run()
            }
        }
    }
}
