import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderSystem
@testable import LarderCore

/// The reading of many policies: on several threads, and with the settings of equal parts shared.
@Suite struct ManyPoliciesTests {
    @Test(arguments: [0, 1, 7, 8, 2_001])
    func resultsOfAllThreadsAreInOrder(count: Int) {
        let calls = Locked<[Int]>([])
        let results = ParallelMap.results(for: count, inRangesOf: 7) { range in
            calls.withLock { $0 += range }
            return range.map { $0 * 2 }
        }
        #expect(results == (0..<count).map { $0 * 2 })
        #expect(calls.withLock { $0 }.sorted() == Array(0..<count))
    }

    private static func policy(_ number: Int, patience: String = "1s") -> Data {
        let space = String(repeating: " ", count: number % 5)
        return Data(
            """
            { "extends": "_base.json", "resource": "\(name(number))",
              "strategy": {\(space) "use": "cache-first", "patience": "\(patience)" } }
            """.utf8)
    }

    private static let base = Data(
        """
        { "origin": { "use": "constant", "value": 1 }, "store": "memory" }
        """.utf8)

    @Test func eachProblemInManyFilesHasItsPosition() throws {
        var files = ["_base.json": Self.base]
        let wrong = (0..<900).filter { $0 % 101 == 3 }
        for number in 0..<900 {
            files[name(number) + ".json"] = Self.policy(number, patience: wrong.contains(number) ? "soon" : "1s")
        }
        #expect(
            try Policies.problems(files)
                == wrong.map { number in
                    """
                    \(name(number)).json:2:\(51 + number % 5): error: this is not a duration; \
                    expected a duration such as "250ms" or "30s" [at $.strategy.patience]
                    """
                })
    }

    @Test func changedBaseChangesAllOfManyPolicies() throws {
        let folder = try Folder()
        for number in 0..<450 {
            try Self.policy(number).write(to: folder.url.appending(path: name(number) + ".json"))
        }
        try Self.base.write(to: folder.url.appending(path: "_base.json"))
        try SimulatedWorld().run { world in
            let pantry = try await Pantry(
                policies: folder.url, registry: .standard, cache: folder.url.appending(path: "cache"), world: world)
            try Data(#"{ "origin": { "use": "constant", "value": 22 }, "store": "memory" }"#.utf8)
                .write(to: folder.url.appending(path: "_base.json"))
            #expect(try await pantry.reload().map(\.resource) == (0..<450).map(name))
            let answer = try await pantry.resource(name(449)).load()
            #expect(String(decoding: answer.value, as: UTF8.self) == "22")
        }
    }

    // MARK: Equal parts

    /// A wrapper that counts how often its settings are read.
    private struct CountingPlugin {
        let reads = Locked(0)

        func plugin(_ type: SettingType<Int>) -> Plugin {
            .wrapper(
                "counted", "Counts how often its settings are read.", Setting("size", type, help: "A number"),
                traits: { [reads] size in
                    reads.withLock { $0 += 1 }
                    return .with {
                        if size > 8 { $0.contradictions = [Contradiction("size", "'size' is large")] }
                    }
                }
            ) { _, inner, _ in inner }
        }

        /// Reads policies with these wrappers, one in each.
        func read(_ wrappers: [String], _ type: SettingType<Int> = .int(1...9)) throws -> [PolicyReader.CheckResult] {
            var registry = Registry.standard
            try registry.register(plugin(type))
            return try reader(registry, wrappers).checkAll()
        }
    }

    private static let four = #"{ "use": "counted", "size": 4 }"#

    /// The members of a JSON value have an order, which is no part of the canonical text.
    @Test func valuesInJSONStayAsTheyAreWritten() throws {
        try SimulatedWorld().run { world in
            let values = [#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#]
            var policies: [String: String] = [:]
            for (number, value) in values.enumerated() {
                policies["r\(number)"] = """
                    { "resource": "r\(number)", "origin": { "use": "constant", "value": \(value) },
                      "strategy": "network-only" }
                    """
            }
            let pantry = try await Pantry(policies: policies, cache: TemporaryFolder().url, world: world)
            for (number, value) in values.enumerated() {
                let loaded = try await pantry.resource("r\(number)").load()
                #expect(String(decoding: loaded.value, as: UTF8.self) == value)
            }
            await pantry.close()
        }
    }

    @Test func equalPartsAreReadOnce() throws {
        let counting = CountingPlugin()
        let spaced = #"{ "size":4, "use" : "counted" }"#
        let policies = try counting.read([Self.four, spaced, Self.four.with("4", "5"), Self.four]).map(\.policy)
        #expect(counting.reads.withLock { $0 } == 2)
        #expect(policies.map { $0?.around.first?.settings.first?.text } == ["4", "4", "5", "4"])
        // Each still knows its own file.
        #expect(
            policies.map { $0?.around.first?.node.position.source.name }
                == (0..<4).map { name($0) + ".json" })
    }

    @Test func equalPartsWithOwnSettingTypeAreReadEach() throws {
        let counting = CountingPlugin()
        let type = SettingType<Int>("own", expectation: "a number", schema: true, show: { "\($0)" }) { node, reading in
            reading.report("in \(reading.file)", .warning, at: node.position)
            return 4
        }
        let results = try counting.read([Self.four, Self.four], type)
        #expect(counting.reads.withLock { $0 } == 2)
        #expect(results.map { $0.problems.map(\.message) } == [["in r1000.json"], ["in r1001.json"]])
    }

    @Test func problemOfEqualPartsIsReportedForEach() throws {
        let results = try CountingPlugin().read([Self.four.with("4", "40"), "  " + Self.four.with("4", "40")])
        #expect(
            results.flatMap(\.problems).map(\.description) == [
                "r1000.json:2:42: error: 40 is out of range; expected a whole number from 1 to 9 [at $.around[0].size]",
                "r1001.json:2:44: error: 40 is out of range; expected a whole number from 1 to 9 [at $.around[0].size]",
            ])
    }

    @Test func contradictionOfEqualPartsIsReportedForEach() throws {
        let results = try CountingPlugin().read([Self.four.with("4", "9"), "  " + Self.four.with("4", "9")])
        #expect(
            results.flatMap(\.problems).map(\.description) == [
                "r1000.json:2:42: error: 'size' is large [at $.around[0].size]",
                "r1001.json:2:44: error: 'size' is large [at $.around[0].size]",
            ])
    }

    @Test func partWithValueFromEnvironmentIsNotShared() throws {
        let written = #"{ "use": "deadline", "after": "${SPAN}" }"#
        let literal = #"{ "use": "deadline", "after": "4s" }"#
        var registry = Registry.standard
        try registry.register(
            .wrapper(
                "deadline", "A limit.", Setting("after", .duration, help: "The limit"),
                traits: { after in .with { $0.givesUpAfter = after } }
            ) { _, inner, _ in inner })
        for wrappers in [[written, literal, written], [literal, written, literal]] {
            let policies = try reader(registry, wrappers).readAll()
            for (policy, wrapper) in zip(policies, wrappers) {
                let part = try #require(policy.around.first)
                #expect(part.givesUpAfter == .seconds(4))
                #expect(part.description.contains("${SPAN}") == (wrapper == written))
            }
            #expect(policies[0].revision != policies[1].revision)
        }
    }
}

private func name(_ number: Int) -> String { "r\(1_000 + number)" }

/// Returns a reader of policies with these wrappers, one in each.
private func reader(_ registry: Registry, _ wrappers: [String]) throws -> PolicyReader {
    let texts = wrappers.enumerated().map { number, wrapper in
        let policy = """
            { "resource": "\(name(number))", "origin": { "use": "constant", "value": 1 },
              "around": [\(wrapper)], "strategy": "network-only" }
            """
        return (name(number), policy)
    }
    return try PolicyReader(
        registry: registry, texts: Dictionary(uniqueKeysWithValues: texts), files: nil, environment: ["SPAN": "4s"])
}
