import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderCore

/// Downloads of more instances than the agenda tries at once, and their list.
@Suite struct LargeDownloadTests {
    private static func policy(_ store: String) -> [String: String] {
        [
            "feed": #"""
            { "resource": "feed", "origin": "scripted", "strategy": { "use": "cache-first", "rest": "0s" }, "store": \#(store) }
            """#
        ]
    }

    private static let memory = #"{ "use": "memory", "capacity": "200MB" }"#

    private static func ids(_ range: ClosedRange<Int>) -> [Parameters] { range.map { ["id": "\($0)"] } }

    private static func run(
        _ store: String = #""file""#, _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        try SimulatedPantry.run(policy(store)) { simulated in
            simulated.origin.play(then: .value("value", after: .milliseconds(10)))
            try await test(simulated)
        }
    }

    /// The path of the list in the data folder.
    private static func list(_ simulated: SimulatedPantry) throws -> String {
        let names = try FileManager.default.subpathsOfDirectory(atPath: simulated.data.path)
        return try #require(names.first { $0.hasSuffix(".list") })
    }

    // MARK: Many instances

    @Test func moreInstancesThanTheQueueHoldsAreAllFetched() throws {
        try Self.run(Self.memory) { simulated in
            let count = FetchJob.capacity + 100
            let progress = await (try await simulated.resource.keep(Self.ids(1...count))).finished()
            #expect(progress.done == count && progress.failed == 0)
            #expect(simulated.origin.calls.count == count)
        }
    }

    @Test func moreRequestsThanTheQueueHoldsAreAllPrefetched() throws {
        try Self.run(Self.memory) { simulated in
            let count = FetchJob.capacity + 100
            let progress = await simulated.resource.prefetch(Self.ids(1...count)).finished()
            #expect(progress.done == count && progress.failed == 0)
        }
    }

    @Test func moreInstancesThanTheQueueHoldsAreResumed() throws {
        try Self.run { simulated in
            simulated.world.network = .offline
            let count = FetchJob.capacity + 100
            try await simulated.resource.keep(Self.ids(1...count))
            await simulated.pantry.close()
            let next = try await SimulatedPantry(
                Self.policy(Self.memory), in: simulated.world, cache: simulated.cache, data: simulated.data)
            next.origin.play(then: .value("next", after: .milliseconds(10)))
            try await simulated.world.sleep(for: .seconds(1))
            simulated.world.network = .online
            try await simulated.world.sleep(for: .milliseconds(10).scaled(by: Double(count)))
            #expect(next.origin.calls.count == count)
            await next.pantry.close()
        }
    }

    @Test func instancesThatWaitOutsideTheQueueAreCancelledAtOnce() throws {
        try Self.run { simulated in
            simulated.world.network = .offline
            let count = FetchJob.capacity + 200
            let download = try await simulated.resource.keep(Self.ids(1...count))
            try await simulated.resource.unkeep(Self.ids(count - 9...count))
            #expect(download.present.cancelled == 10)
            try await simulated.resource.clear(["id": "\(count - 10)"])
            #expect(download.present.cancelled == 11)
            download.cancel()
            #expect(download.present.cancelled == count)
            let prefetch = simulated.resource.prefetch(Self.ids(1...count))
            await simulated.pantry.close()
            #expect(prefetch.present.cancelled == count)
        }
    }

    // MARK: Swapped policies

    @Test(arguments: [
        [#"{ "use": "file", "capacity": "50MB" }"#, #"{ "use": "file", "capacity": "60MB" }"#],
        [#""memory""#, #""file""#], [#""file""#, #"{ "use": "sqlite", "file": "feed.sqlite" }"#],
    ])
    func policySwappedDuringADownloadFailsNothing(_ stores: [String]) throws {
        try Self.run(stores[0]) { simulated in
            let download = try await simulated.resource.keep(Self.ids(1...150))
            for number in 1...12 {
                try await simulated.world.sleep(for: .milliseconds(23))
                try await simulated.pantry.replace(policies: Self.policy(stores[number % 2]))
            }
            let progress = await download.finished()
            #expect(progress.done == 150 && progress.failed == 0, "\(download.failures.map(\.error.message))")
            try await simulated.world.sleep(for: .seconds(5))
            #expect(try await simulated.resource.kept().filter { $0.size != nil }.count == 150)
        }
    }

    // MARK: The list

    @Test func oneOfManyInstancesIsGivenBackByOneLine() throws {
        try Self.run(Self.memory) { simulated in
            simulated.world.network = .offline
            try await simulated.resource.keep(Self.ids(1...400))
            let path = try Self.list(simulated)
            let before = try simulated.data.text(of: path)
            try await simulated.resource.unkeep(Self.ids(200...200))
            let after = try simulated.data.text(of: path)
            #expect(after.hasPrefix(before))
            let added = after.dropFirst(before.count).split(separator: "\n")
            #expect(added.count == 1 && added.allSatisfy { $0.hasPrefix("- ") })
            #expect(try await simulated.resource.kept().count == 399)
        }
    }

    @Test func listThatChangesOftenStaysSmall() throws {
        try Self.run(Self.memory) { simulated in
            simulated.world.network = .offline
            for _ in 1...50 {
                try await simulated.resource.keep(Self.ids(1...100)).cancel()
                try await simulated.resource.unkeep(Self.ids(2...100))
            }
            let text = try simulated.data.text(of: try Self.list(simulated))
            #expect(text.utf8.count < 150_000)
            #expect(try await simulated.resource.kept().map { $0.request.parameters["id"] } == ["1"])
        }
    }

    @Test func clearedInstancesLeaveNoLine() throws {
        try Self.run(Self.memory) { simulated in
            simulated.world.network = .offline
            try await simulated.resource.keep(Self.ids(1...3), scope: "anna")
            try await simulated.resource.keep(Self.ids(1...3), scope: "bob")
            try await simulated.resource.unkeep(Self.ids(1...1), scope: "anna")
            try await simulated.pantry.clear(.scope("anna"))
            #expect(try !simulated.data.text(of: try Self.list(simulated)).contains("anna"))
            #expect(try await simulated.resource.kept().count == 3)
        }
    }

    @Test func lineThatIsCutShortIsLeftOut() throws {
        try Self.run(Self.memory) { simulated in
            simulated.world.network = .offline
            try await simulated.resource.keep(Self.ids(1...3))
            let path = try Self.list(simulated)
            try simulated.data.write(String(try simulated.data.text(of: path).dropLast(4)), to: path)
            #expect(try await simulated.resource.kept().count == 2)
            try await simulated.resource.keep(Self.ids(4...4))
            #expect(try await simulated.resource.kept().map { $0.request.parameters["id"] } == ["1", "2", "4"])
        }
    }
}
