import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// The state that parts keep across reloads.
@Suite struct KeptStateTests {
    private final class Connection: Sendable {}

    private struct Videos: Loader {
        let connection: Connection
        let answer: String

        func load(_ call: Call) async throws -> Loaded<Entry> { Loaded(Entry(Data(answer.utf8))) }
    }

    /// Remembers which connections the parts of each graph were made with.
    private final class Connections: Sendable {
        private let graphs = Locked<[[Connection]]>([])

        var plugin: Plugin {
            .origin("videos", "Keeps a connection.", Setting("name", .text, default: "", help: "A name")) {
                [self] context, name in
                let connection = context.keep { Connection() }
                add(connection)
                return Videos(connection: connection, answer: name)
            }
        }

        func add(_ connection: Connection) { graphs.withLock { $0[$0.count - 1].append(connection) } }

        func begin() { graphs.withLock { $0.append([]) } }

        /// The connections in the order in which they were first seen, as numbers.
        var numbers: [[Int]] {
            graphs.withLock { graphs in
                var seen: [ObjectIdentifier] = []
                return graphs.map { graph in
                    graph.map { connection in
                        let id = ObjectIdentifier(connection)
                        if !seen.contains(id) { seen.append(id) }
                        return seen.firstIndex(of: id) ?? -1
                    }
                }
            }
        }
    }

    private static func feed(_ origins: String, strategy: String = "network-only") -> [String: String] {
        [
            "feed": """
            { "resource": "feed", "strategy": "\(strategy)", "origin": { "use": "mirrors", "origins": \(origins) } }
            """
        ]
    }

    @Test(arguments: [
        (#"["videos", "videos", "videos"]"#, [0, 1, 2]),
        (#"["videos", { "use": "videos", "name": "b" }]"#, [0, 1]),
        (#"[{ "use": "mirrors", "origins": ["videos", "videos"] }, "videos"]"#, [0, 1, 2]),
        (
            #"[{ "use": "mirrors", "origins": ["videos"] }, { "use": "mirrors", "origins": ["videos"] }]"#,
            [0, 1]
        ),
    ])
    func partsBesideEachOtherKeepStateOfTheirOwnAcrossReloads(_ origins: String, numbers: [Int]) throws {
        let connections = Connections()
        connections.begin()
        try SimulatedPantry.run(Self.feed(origins), plugins: [connections.plugin]) { simulated in
            connections.begin()
            _ = try await simulated.pantry.replace(policies: Self.feed(origins, strategy: "race"))
        }
        #expect(connections.numbers == [numbers, numbers])
    }

    private struct Counting: Loader {
        let sides: Sides
        let loads: Locked<Int>
        var inner: (any Loader)?

        func load(_ call: Call) async throws -> Loaded<Entry> {
            loads.withLock { $0 += 1 }
            return try await (inner ?? sides.live).load(call)
        }
    }

    @Test func strategyAndStrategyInsideItKeepStateOfTheirOwnAcrossReloads() throws {
        let counts = Locked<[Locked<Int>]>([])
        let inner = Plugin.strategy("inner", "Counts loads.") { sides in
            let loads = sides.keep { Locked(0) }
            counts.withLock { $0.append(loads) }
            return Counting(sides: sides, loads: loads)
        }
        let outer = Plugin.strategy(
            "outer", "Counts loads.", Setting("first", .part(.strategy), help: "A strategy"),
            Setting("second", .part(.strategy), help: "A strategy")
        ) { sides, first, second in
            let loads = sides.keep { Locked(0) }
            _ = try second.strategy(over: sides)
            defer { counts.withLock { $0.append(loads) } }
            return Counting(sides: sides, loads: loads, inner: try first.strategy(over: sides))
        }
        @Sendable func feed(_ about: String) -> [String: String] {
            [
                "feed": """
                { "resource": "feed", "about": "\(about)", "origin": { "use": "constant", "value": 1 },
                  "strategy": { "use": "outer", "first": "inner", "second": "inner" } }
                """
            ]
        }
        try SimulatedPantry.run(feed("first"), plugins: [inner, outer]) { simulated in
            _ = try await simulated.feed.load()
            _ = try await simulated.pantry.replace(policies: feed("second"))
            _ = try await simulated.feed.load()
        }
        // In each graph: the second strategy, the first one, and the one around them.
        #expect(counts.withLock { $0.map { loads in loads.withLock { $0 } } } == [0, 2, 2, 0, 2, 2])
    }
}
