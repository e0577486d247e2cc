import Larder
import LarderSimulation
import Testing

@testable import LarderEditions

@Suite struct EditionMachineTests {
    @Test func editionIsTriedThenConfirmed() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(42), 42)
        try publisher.publish(by: publisher.release)
        var app = Installation(publisher.rules())
        try app.start()
        #expect(app.running == nil)
        try app.poll(publisher.files)
        #expect(app.running == 42 && app.state?.trial?.loads == 0 && app.state?.confirmed == nil)
        app.answer(3)
        #expect(app.state?.confirmed == nil, "the channel was not reached under it yet")
        try app.poll(publisher.files)
        #expect(app.state?.confirmed == publisher.channel.editions[0].digest && app.state?.trial == nil)
        #expect(app.events == [.offered(42), .trial(42), .confirmed(42)])
    }

    @Test func startTakesTheKeptEditionWithoutTheNetwork() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(42), 42)
        var app = try publisher.installation()
        app.close()
        try app.start()
        #expect(app.running == 42)
    }

    @Test func editionIsLeftAfterTwoStartsThatEndBeforeAnAnswer() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(42), 42)
        var app = try publisher.installation()
        app.kill()
        try app.start()
        #expect(app.running == 42, "one end may be an accident")
        app.kill()
        try app.start()
        #expect(app.running == nil)
        #expect(app.state?.rejections.map(\.fate) == [.reverted])
        #expect(app.events.last == .reverted(42))
        try app.poll(publisher.files)
        #expect(app.running == nil, "it is not taken again")
    }

    @Test func killsAfterAnAnswerCondemnNoEdition() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(42), 42)
        var app = try publisher.installation()
        for _ in 0..<5 {
            app.answer(1)
            app.kill()
            try app.start()
        }
        #expect(app.running == 42)
    }

    @Test func answerBetweenTwoEndedStartsSavesAConfirmedEdition() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(42), 42)
        var app = try publisher.installation()
        app.answer(3)
        try app.poll(publisher.files)
        for _ in 0..<4 {
            app.kill()
            try app.start()
            app.answer(1)
            app.kill()
            try app.start()
            app.kill()
            try app.start()
            #expect(app.running == 42)
            app.answer(1)
        }
    }

    @Test func processThatOnlyLooksForgetsNoEndedStart() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(42), 42)
        var app = try publisher.installation()
        app.kill()
        var looker = EditionMachine(publisher.rules(), files: app.files, isActive: false, newInstallation: { "" })
        _ = looker.supply(over: "own", at: app.now)
        try app.start()
        #expect(app.running == 42)
        app.kill()
        _ = looker.supply(over: "own", at: app.now)
        try app.start()
        #expect(app.running == nil)
    }

    @Test func etagOfADamagedChannelIsNotSent() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(42), 42)
        try publisher.publish(by: publisher.release)
        var app = Installation(publisher.rules())
        try app.start()
        try app.machine?.kept.receive(channel: publisher.files["shop.channel"] ?? [], etag: "\"1\"", at: app.now)
        #expect(app.machine?.etag == "\"1\"")
        app.files.contents[KeptEditions.channelName]?[200] ^= 1
        #expect(app.machine?.etag == nil)
    }

    @Test func refusedEditionGivesWayToTheNextOne() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(41), 41)
        publisher.offer(try publisher.edition(42), 42)
        try publisher.publish(by: publisher.release)
        var app = Installation(publisher.rules())
        app.compose = { $0.number == 42 ? EditionError(.unsound, "an error") : nil }
        try app.start()
        try app.poll(publisher.files)
        try app.poll(publisher.files)
        #expect(app.running == 41)
        #expect(app.events.contains(.refused(42, EditionError(.unsound, "an error"))))
        // Beside other policies of the app, it is tried once more.
        app.close()
        app.own = "another"
        app.compose = { _ in nil }
        try app.start()
        #expect(app.running == 42)
    }

    @Test func haltLeadsBackToTheFormerEdition() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(41), 41)
        var app = try publisher.installation()
        app.answer(3)
        try app.poll(publisher.files)
        publisher.offer(try publisher.edition(42), 42)
        try publisher.publish(by: publisher.release)
        try app.poll(publisher.files)
        #expect(app.running == 42 && app.state?.confirmed == publisher.channel.editions[1].digest)
        publisher.channel.editions[0].to.share = 0
        try publisher.publish()
        try app.poll(publisher.files)
        #expect(app.running == 41 && app.state?.trial == nil && app.state?.confirmed != nil)
    }

    @Test func ringDecidesWhichEditionIsOffered() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(41), 41)
        publisher.offer(try publisher.edition(42), 42, rings: ["beta"])
        try publisher.publish(by: publisher.release)
        for (ring, number) in [("beta", 42), ("stable", 41)] {
            var app = Installation(publisher.rules(ring: ring))
            try app.start()
            try app.poll(publisher.files)
            #expect(app.running == number)
        }
    }

    @Test func needsAreLookedAtAgainByAnotherProgramOnly() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(42, needs: ["wrapper extra": EditionFile.anyDeclaration]), 42)
        try publisher.publish(by: publisher.release)
        var registry = Registry()
        try registry.register(.wrapper("extra", "Does nothing.") { _, inner in inner })
        let files = MemoryFiles()
        func start(_ program: String, _ registry: Registry) throws -> Installation {
            var app = Installation(publisher.rules(registry: registry), files: files)
            app.program = program
            try app.start()
            return app
        }
        var app = try start("1", registry)
        try app.poll(publisher.files)
        #expect(app.running == 42)
        app.close()
        #expect(try start("1", Registry()).running == 42)
        let updated = try start("2", Registry())
        #expect(updated.running == nil && updated.machine?.facts.dumped["fate"] == "unfit")
    }

    @Test func oldChannelChangesNothing() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(42), 42)
        publisher.channel.until = Timestamp(seconds: 2_000_000)
        var app = try publisher.installation()
        app.now = Timestamp(seconds: 3_000_000)
        app.close()
        try app.start()
        #expect(app.running == 42, "a month without the channel is no fault")
        publisher.channel.editions[0].to.share = 0
        try publisher.publish()
        try app.poll(publisher.files)
        #expect(app.running == 42)
        guard case .channelRefused(let error)? = app.events.last else { return #expect(Bool(false)) }
        #expect(error.code == .expired)
    }

    @Test func damagedStateNeverTakesTheRevisionBack() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(42), 42)
        try publisher.publish(by: publisher.release)
        let old = publisher.files
        publisher.channel.editions[0].to.share = 0
        try publisher.publish()
        var app = Installation(publisher.rules())
        try app.start()
        try app.poll(publisher.files)
        app.close()
        app.files.contents[KeptEditions.stateName] = Array("{".utf8)
        try app.start()
        try app.poll(old)
        #expect(app.running == nil)
        guard case .channelRefused(let error)? = app.events.last else { return #expect(Bool(false)) }
        #expect(error.code == .oldRevision)
    }

    @Test func newKeysOfTheAppEndTheHighestRevisionOfAThief() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(42), 42)
        try publisher.publish(by: publisher.release)
        let files = publisher.files
        publisher.channel.revision = 1_000_000
        publisher.channel.editions = []
        try publisher.publish(by: publisher.steer)
        var app = Installation(publisher.rules())
        try app.start()
        try app.poll(publisher.files)
        try app.poll(files)
        #expect(app.running == nil)
        app.close()
        app.rules.steer = []
        try app.start()
        try app.poll(files)
        #expect(app.running == 42)
    }

    @Test func stateIsReadAsItWasWritten() throws {
        var state = EditionState(installation: "0123")
        (state.revision, state.channel, state.etag) = (7, "sha256:aa", "\"x\"")
        state.keys = ["a", "b"]
        (state.reached, state.confirmed, state.pin) = (Timestamp(seconds: 9), "sha256:bb", 41)
        state.trial = EditionState.Trial(digest: "sha256:cc", loads: 2, hasReachedChannel: true)
        state.fitting = EditionState.Fitting(program: "1 2", digest: "sha256:cc")
        state.rejections = [
            EditionState.Rejection(digest: "sha256:dd", fate: .refused, why: "reach", own: "own"),
            EditionState.Rejection(digest: "sha256:ee", fate: .reverted, why: "starts"),
        ]
        #expect(EditionState(reading: Array(state.text.utf8)) == state)
        #expect(EditionState(reading: Array(state.text.utf8.dropLast(9))) == nil)
    }
}
