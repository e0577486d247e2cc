import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// `resource.keep`: instances that stay on the device.
@Suite struct KeepingTests {
    private static func policy(_ store: String, validators: String = "[]") -> [String: String] {
        [
            "feed": #"""
            { "resource": "feed", "origin": "scripted", "strategy": { "use": "cache-first", "rest": "0s" },
              "validators": \#(validators), "store": \#(store) }
            """#
        ]
    }

    private static func ids(_ range: ClosedRange<Int>) -> [Parameters] { range.map { ["id": "\($0)"] } }

    /// A pantry in the folders of another one, as the next process makes it.
    private static func next(
        after simulated: SimulatedPantry, store: String = #""file""#, cache: TemporaryFolder? = nil
    ) async throws -> SimulatedPantry {
        await simulated.pantry.close()
        let next = try await SimulatedPantry(
            policy(store), in: simulated.world, cache: cache ?? simulated.cache, data: simulated.data)
        next.origin.play(then: .value("next", after: .milliseconds(10)))
        return next
    }

    private static func run(
        _ store: String = #""file""#, validators: String = "[]",
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        try SimulatedPantry.run(policy(store, validators: validators)) { simulated in
            simulated.origin.play(then: .value("value", after: .milliseconds(10)))
            try await test(simulated)
        }
    }

    private static func called(_ simulated: SimulatedPantry) -> [String] {
        simulated.origin.calls.compactMap { $0.request.parameters["id"] }
    }

    /// Waits until the origin was called this often and all calls have ended.
    private static func settle(_ simulated: SimulatedPantry) async throws {
        try await simulated.world.sleep(for: .seconds(1))
    }

    // MARK: Keeping

    @Test(arguments: [
        #""memory""#, #""file""#, #"{ "use": "sqlite", "file": "feed.sqlite" }"#,
        #"{ "use": "tiered", "tiers": ["memory", "file"] }"#,
    ])
    func keptInstancesAreFetchedAndStay(_ store: String) throws {
        try Self.run(store) { simulated in
            let feed = simulated.resource
            _ = try await feed.load(["id": "1"])
            let copies = try await feed.copies(of: Self.ids(1...3).map { feed.request($0) })
            #expect(copies.map(\.size) == [5, nil, nil])
            let progress = await (try await feed.keep(Self.ids(1...3))).finished()
            #expect(progress.done == 3 && progress.total == 3 && progress.bytes == 10)
            #expect(try await feed.kept().map(\.size) == [5, 5, 5])
            #expect(try await feed.kept().map { $0.request.parameters["id"] } == ["1", "2", "3"])
            // All that is not kept is evicted.
            _ = try await feed.load(["id": "4"])
            simulated.pantry.relieve()
            for parameters in Self.ids(1...3) { #expect(try await feed.contains(parameters)) }
        }
    }

    @Test(arguments: [
        #"{ "use": "memory", "forgetAfter": "1h" }"#, #"{ "use": "file", "forgetAfter": "1h" }"#,
        #"{ "use": "sqlite", "file": "feed.sqlite", "forgetAfter": "1h" }"#,
    ])
    func keptInstancesHaveNoAgeLimit(_ store: String) throws {
        try Self.run(store) { simulated in
            let feed = simulated.resource
            _ = try await feed.load(["id": "2"])
            await (try await feed.keep(Self.ids(1...1))).finished()
            try await simulated.world.sleep(for: .seconds(2 * 3_600))
            #expect(try await feed.contains(["id": "1"]))
            #expect(try await feed.contains(["id": "2"]) == false)
            #expect(try await feed.load(["id": "1"], mode: .cachedOnly).text == "value")
            #expect(try await feed.list().entries.count == 1)
            // Others that are written do not sweep it away.
            for id in 3...50 { _ = try await feed.load(["id": "\(id)"]) }
            #expect(try await feed.contains(["id": "1"]))
            try await feed.unkeep(Self.ids(1...1))
            #expect(try await feed.contains(["id": "1"]) == false)
        }
    }

    @Test func validatorsDecideAboutKeptInstances() throws {
        try Self.run(validators: #"[{ "use": "age", "fresh": "1m", "onError": "1h" }]"#) { simulated in
            let feed = simulated.resource
            await (try await feed.keep(Self.ids(1...1))).finished()
            simulated.origin.play(then: .failure(.status(503)))
            try await simulated.world.sleep(for: .seconds(600))
            #expect(try await feed.load(["id": "1"]).text == "value")
            try await simulated.world.sleep(for: .seconds(3_600))
            await #expect(throws: LoadError.self) { try await feed.load(["id": "1"]) }
            #expect(try await feed.contains(["id": "1"]))
        }
    }

    @Test func renewedCopyIsKept() throws {
        try Self.run { simulated in
            let feed = simulated.resource
            await (try await feed.keep(Self.ids(1...1))).finished()
            simulated.origin.play(then: .value("renewed"))
            _ = try await feed.load(["id": "1"], mode: .refresh)
            simulated.pantry.relieve()
            #expect(try await feed.kept().map(\.size) == [7])
        }
    }

    @Test func instanceThatCannotBeFetchedHasFailed() throws {
        try Self.run(validators: #"["age"]"#) { simulated in
            let feed = simulated.resource
            _ = try await feed.load(["id": "1"])
            try await simulated.world.sleep(for: .seconds(3_600))
            simulated.origin.play(then: .failure(.status(404)))
            let download = try await feed.keep(Self.ids(1...2))
            let progress = await download.finished()
            #expect(progress.failed == 2 && download.failures.map(\.error.status) == [404, 404])
            simulated.origin.play(then: .value("again"))
            #expect(await (try await feed.keep(Self.ids(1...2))).finished().done == 2)
        }
    }

    @Test func staleCopyIsKeptIfItCannotBeRenewed() throws {
        try Self.run(validators: #"[{ "use": "age", "fresh": "1m", "onError": "7d" }]"#) { simulated in
            let feed = simulated.resource
            _ = try await feed.load(["id": "1"])
            try await simulated.world.sleep(for: .seconds(600))
            simulated.origin.play(then: .failure(.status(503)))
            #expect(await (try await feed.keep(Self.ids(1...1))).finished().done == 1)
            #expect(try await feed.kept().map(\.size) == [5])
        }
    }

    @Test func storeThatIsFullOfKeptInstancesKeepsNoMore() throws {
        try Self.run(#"{ "use": "memory", "capacity": "4KB" }"#) { simulated in
            simulated.origin.play(then: .value(String(repeating: "x", count: 1_000)))
            let download = try await simulated.resource.keep(Self.ids(1...10))
            let progress = await download.finished()
            #expect(progress.done > 0 && progress.failed > 0 && progress.done + progress.failed == 10)
            let kept = try await simulated.resource.kept()
            #expect(kept.filter { $0.size != nil }.count == progress.done)
        }
    }

    @Test func requestOfAnotherResourceIsAnError() throws {
        try Self.run { simulated in
            await #expect(throws: LoadError.self) { try await simulated.resource.keep([Request("other")]) }
            await #expect(throws: LoadError.self) {
                try await simulated.pantry.resource("other").keep([Request("other")])
            }
            let kept = try await simulated.resource.kept()
            #expect(kept.isEmpty)
        }
    }

    @Test func equalRequestsShareOneCall() throws {
        try Self.run { simulated in
            let first = try await simulated.resource.keep(Self.ids(1...3) + Self.ids(1...1))
            let second = try await simulated.resource.keep(Self.ids(2...4))
            let (one, other) = (await first.finished(), await second.finished())
            #expect(one.done == 4 && other.done == 3)
            #expect(Self.called(simulated).sorted() == ["1", "2", "3", "4"])
            #expect(try await simulated.resource.kept().count == 4)
        }
    }

    // MARK: Restarts

    @Test func nextProcessFetchesOnlyWhatIsMissing() throws {
        try Self.run { simulated in
            let download = try await simulated.resource.keep(Self.ids(1...20))
            while download.present.done < 8 { try await simulated.world.sleep(for: .milliseconds(1)) }
            let next = try await Self.next(after: simulated)
            let stored = Set(try await next.resource.list().entries.compactMap { $0.key?.parameters["id"] })
            #expect(stored.count >= 8 && stored.count < 20)
            try await Self.settle(next)
            #expect(Set(Self.called(next)) == Set((1...20).map { "\($0)" }).subtracting(stored))
            #expect(try await next.resource.kept().allSatisfy { $0.size != nil })
            let last = try await Self.next(after: next)
            try await Self.settle(last)
            #expect(Self.called(last) == [])
            #expect(await (try await last.resource.keep(Self.ids(1...20))).finished().done == 20)
            await last.pantry.close()
        }
    }

    @Test func lostCacheFolderIsFilledAgain() throws {
        try Self.run { simulated in
            await (try await simulated.resource.keep(Self.ids(1...5))).finished()
            let next = try await Self.next(after: simulated, cache: TemporaryFolder())
            try await Self.settle(next)
            #expect(Self.called(next).sorted() == ["1", "2", "3", "4", "5"])
            #expect(try await next.resource.kept().map(\.size) == [4, 4, 4, 4, 4])
            await next.pantry.close()
        }
    }

    @Test func storeOfANewPolicyIsFilled() throws {
        try Self.run(#""memory""#) { simulated in
            await (try await simulated.resource.keep(Self.ids(1...5))).finished()
            try await simulated.pantry.replace(policies: Self.policy(#""file""#))
            try await Self.settle(simulated)
            #expect(try await simulated.resource.kept().map(\.size) == [5, 5, 5, 5, 5])
            #expect(simulated.origin.calls.count == 10)
            let next = try await Self.next(after: simulated)
            try await Self.settle(next)
            #expect(Self.called(next) == [])
            await next.pantry.close()
        }
    }

    @Test func listHasFieldsAndBodiesButNoCredentials() throws {
        try Self.run { simulated in
            let feed = simulated.resource
            let requests = [
                feed.request(["id": "ä b"], fields: ["Accept-Language": "de, en", "Authorization": "geheim"]),
                feed.request(["id": "1"], scope: "a b", body: Data([0, 10, 255])),
            ]
            await (try await feed.keep(requests)).finished()
            let fields = simulated.origin.calls.map { $0.request.fields["authorization"] }
            #expect(fields.contains("geheim"))
            let names = try FileManager.default.subpathsOfDirectory(atPath: simulated.data.path)
            let list = try #require(names.first { $0.hasSuffix(".list") })
            #expect(try simulated.data.text(of: list).contains("geheim") == false)
            let kept = try await feed.kept().map(\.request)
            #expect(kept.map(\.key) == requests.map(\.key) && kept[1].body == requests[1].body)
            #expect(kept[0].fields == ["accept-language": "de, en"])
        }
    }

    @Test func damagedListIsAnErrorAndStays() throws {
        try Self.run { simulated in
            await (try await simulated.resource.keep(Self.ids(1...1))).finished()
            let names = try FileManager.default.subpathsOfDirectory(atPath: simulated.data.path)
            let list = try #require(names.first { $0.hasSuffix(".list") })
            try simulated.data.write("larder-kept 2\nend\n", to: list)
            await #expect(throws: (any Error).self) { try await simulated.resource.kept() }
            await #expect(throws: (any Error).self) { try await simulated.resource.keep(Self.ids(2...2)) }
            #expect(try simulated.data.text(of: list) == "larder-kept 2\nend\n")
        }
    }

    // MARK: Giving back

    @Test func instanceThatIsGivenBackCanBeEvicted() throws {
        try Self.run(#""memory""#) { simulated in
            let feed = simulated.resource
            await (try await feed.keep(Self.ids(1...3))).finished()
            try await feed.unkeep(Self.ids(2...2))
            simulated.pantry.relieve()
            #expect(try await feed.contains(["id": "1"]))
            #expect(try await feed.contains(["id": "2"]) == false)
            #expect(try await feed.kept().map { $0.request.parameters["id"] } == ["1", "3"])
        }
    }

    @Test func instanceThatIsGivenBackIsNotFetchedAnyMore() throws {
        try Self.run { simulated in
            let feed = simulated.resource
            let download = try await feed.keep(Self.ids(1...40))
            while download.present.done < 8 { try await simulated.world.sleep(for: .milliseconds(1)) }
            try await feed.unkeep(Self.ids(1...40))
            let progress = await download.finished()
            #expect(progress.cancelled > 20 && progress.left == 0)
            let calls = simulated.origin.calls.count
            let next = try await Self.next(after: simulated)
            try await Self.settle(next)
            #expect(calls < 20 && Self.called(next) == [])
            #expect(try await next.resource.kept().isEmpty)
            await next.pantry.close()
        }
    }

    @Test func cancelledDownloadGoesOnWithTheNextProcess() throws {
        try Self.run { simulated in
            let download = try await simulated.resource.keep(Self.ids(1...20))
            while download.present.done < 4 { try await simulated.world.sleep(for: .milliseconds(1)) }
            download.cancel()
            #expect(await download.finished().cancelled > 8)
            try await Self.settle(simulated)
            #expect(simulated.origin.calls.count < 12)
            let next = try await Self.next(after: simulated)
            try await Self.settle(next)
            #expect(try await next.resource.kept().allSatisfy { $0.size != nil })
            await next.pantry.close()
        }
    }

    // MARK: Clearing

    @Test func logoutRemovesListAndCopies() throws {
        try Self.run { simulated in
            let feed = simulated.resource
            for scope in ["alice", "bob"] { await (try await feed.keep(Self.ids(1...3), scope: scope)).finished() }
            let download = try await feed.keep(Self.ids(4...40), scope: "alice")
            try await simulated.pantry.clear(.scope("alice"))
            #expect(await download.finished().cancelled > 0)
            #expect(try await feed.kept().map(\.request.key.scope) == ["bob", "bob", "bob"])
            let next = try await Self.next(after: simulated)
            try await Self.settle(next)
            #expect(Self.called(next) == [])
            #expect(try await next.resource.list().entries.allSatisfy { $0.key?.scope == "bob" })
            await next.pantry.close()
        }
    }

    @Test func clearingOfOneInstanceOrAllTakesThemOffTheList() throws {
        try Self.run { simulated in
            let feed = simulated.resource
            await (try await feed.keep(Self.ids(1...3))).finished()
            try await feed.clear(["id": "2"])
            #expect(try await feed.kept().map { $0.request.parameters["id"] } == ["1", "3"])
            // A tag says that something is out of date, not that nobody wants it.
            try await feed.clear(.tag("any"))
            #expect(try await feed.kept().count == 2)
            try await simulated.pantry.clear()
            #expect(try await feed.kept().isEmpty)
        }
    }
}
