import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Instances that are kept by several callers.
@Suite struct KeepingSharingTests {
    private static let policy = [
        "feed": #"""
        { "resource": "feed", "origin": "scripted", "strategy": { "use": "cache-first", "rest": "0s" }, "store": "file" }
        """#
    ]

    private static func ids(_ range: ClosedRange<Int>) -> [Parameters] { range.map { ["id": "\($0)"] } }

    private static func run(_ test: @escaping @Sendable (SimulatedPantry) async throws -> Void) throws {
        try SimulatedPantry.run(policy) { simulated in
            simulated.origin.play(then: .value("value", after: .milliseconds(10)))
            try await test(simulated)
        }
    }

    @Test func secondCallerMayAllowWhatTheFirstDoesNot() throws {
        try Self.run { simulated in
            simulated.world.network = NetworkState(.online, kind: .cellular)
            let patient = try await simulated.resource.keep(Self.ids(1...1), when: .wifi)
            try await simulated.world.sleep(for: .seconds(1))
            let other = try await simulated.resource.keep(Self.ids(1...1))
            try await simulated.world.sleep(for: .seconds(1))
            #expect(other.present.done == 1 && patient.present.done == 1)
        }
    }

    @Test func credentialsOfTheSecondCallerAreUsed() throws {
        try Self.run { simulated in
            let feed = simulated.resource
            simulated.world.network = .offline
            let first = try await feed.keep([feed.request(["id": "1"])])
            let second = try await feed.keep([feed.request(["id": "1"], fields: ["Authorization": "secret"])])
            simulated.world.network = .online
            let (one, other) = (await first.finished(), await second.finished())
            #expect(one.done == 1 && other.done == 1)
            #expect(simulated.origin.calls.contains { $0.request.fields["authorization"] == "secret" })
        }
    }

    @Test func cancellingOneDownloadLeavesTheOther() throws {
        try Self.run { simulated in
            let first = try await simulated.resource.keep(Self.ids(1...10))
            let second = try await simulated.resource.keep(Self.ids(1...10))
            first.cancel()
            #expect(first.present.cancelled > 0)
            #expect(await second.finished().done == 10)
        }
    }

    @Test func cancellingADownloadThatHasEndedLeavesALaterOne() throws {
        try Self.run { simulated in
            simulated.origin.play(.failure(.status(404)))
            let first = try await simulated.resource.keep(Self.ids(1...1))
            #expect(await first.finished().failed == 1)
            let second = try await simulated.resource.keep(Self.ids(1...1))
            first.cancel()
            #expect(await second.finished().done == 1)
        }
    }

    @Test func lastDownloadThatIsCancelledEndsTheCall() throws {
        try Self.run { simulated in
            simulated.origin.play(then: .hang)
            let downloads = [
                try await simulated.resource.keep(Self.ids(1...1)), try await simulated.resource.keep(Self.ids(1...1)),
            ]
            try await simulated.world.sleep(for: .seconds(1))
            #expect(simulated.origin.underWay == 1)
            for download in downloads { download.cancel() }
            try await simulated.world.settle()
            #expect(simulated.origin.underWay == 0 && downloads.allSatisfy { $0.present.cancelled == 1 })
        }
    }

    @Test func instanceThatIsKeptAgainAfterARestartIsFetchedByOneDownload() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: CacheFixture.file)
            fixture.origin.play(then: .failure(.status(404)))
            world.network = .offline
            let former = try await fixture.open()
            _ = try await former.resource("feed").keep(Self.ids(1...3))
            await former.close()
            let pantry = try await fixture.open()
            try await world.settle()
            let download = try await pantry.resource("feed").keep(Self.ids(1...3))
            world.network = .online
            #expect(await download.finished().failed == 3)
            try await world.settle()
            #expect(fixture.origin.calls.count == 3)
        }
    }

    @Test func reloadDoesNotFetchAgainWhatACallerKeeps() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: CacheFixture.file)
            fixture.origin.play(then: .failure(.status(404)))
            let pantry = try await fixture.open()
            world.network = .offline
            let download = try await pantry.resource("feed").keep(Self.ids(1...10))
            try fixture.write("feed", store: CacheFixture.tiered)
            #expect(try await pantry.reload().count == 1)
            world.network = .online
            #expect(await download.finished().failed == 10)
            try await world.settle()
            #expect(fixture.origin.calls.count == 10)
        }
    }
}
