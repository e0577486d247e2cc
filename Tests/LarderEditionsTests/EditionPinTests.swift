import Larder
import LarderSimulation
import Testing

@testable import LarderEditions

/// Editions that the app chooses itself, and the one that it carries.
@Suite struct EditionPinTests {
    private static func run(_ test: (inout Publisher, inout Installation) throws -> Void) throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(41), 41)
        publisher.offer(try publisher.edition(42), 42)
        var app = try publisher.installation()
        app.answer(3)
        try app.poll(publisher.files)
        #expect(app.running == 42 && app.state?.trial == nil)
        try test(&publisher, &app)
    }

    @Test func pinBeatsTheChannelUntilItIsReleased() throws {
        try Self.run { _, app in
            _ = try app.machine?.pin(0)
            try app.reload()
            #expect(app.running == nil && app.state?.confirmed != nil, "what was confirmed is remembered")
            #expect(throws: EditionError.self) { try app.machine?.pin(7) }
            _ = try app.machine?.pin(nil)
            app.close()
            try app.start()
            #expect(app.running == 42 && app.machine?.facts.isTrial == false)
        }
    }

    @Test func pinnedEditionThatCrashesIsLeft() throws {
        try Self.run { publisher, app in
            _ = try app.machine?.pin(42)
            publisher.channel.editions[0].to.share = 0
            try publisher.publish()
            try app.poll(publisher.files)
            #expect(app.running == 42)
            for _ in 0..<2 {
                app.kill()
                try app.start()
            }
            app.kill()
            try app.start()
            #expect(app.running != 42 && app.events.contains(.reverted(42)))
        }
    }

    @Test func pinnedEditionThatIsRefusedIsComposedOnce() throws {
        try Self.run { _, app in
            app.rules.pin = 42
            var tries = 0
            app.compose = { _ in
                tries += 1
                return EditionError(.unsound, "an error")
            }
            app.close()
            try app.start()
            #expect(app.running == nil && tries == 1)
        }
    }

    @Test func pinnedEditionIsFetchedIfTheChannelListsIt() throws {
        try Self.run { publisher, app in
            app.close()
            app.rules.pin = 41
            try app.start()
            #expect(app.running == 42)
            try app.poll(publisher.files)
            #expect(app.running == 41)
        }
    }

    @Test func emergencyLeadsToTheEditionInTheApp() throws {
        try Self.run { publisher, app in
            let carried = try publisher.edition(900)
            app.close()
            app.rules.emergency = KeptEdition(digest: carried.digest, edition: try EditionFile(reading: carried))
            try app.start()
            #expect(app.running == 42)
            publisher.channel.isEmergency = true
            try publisher.publish()
            try app.poll(publisher.files)
            #expect(app.running == 900)
            #expect(app.machine?.facts.dumped["offered"] == "900")
            app.close()
            try app.start()
            #expect(app.running == 900, "also without the network")
            publisher.channel.isEmergency = false
            try publisher.publish()
            try app.poll(publisher.files)
            #expect(app.running == 42)
        }
    }

    @Test func emergencyLeadsAppsWithoutSuchAnEditionToTheirOwnPolicies() throws {
        try Self.run { publisher, app in
            publisher.channel.isEmergency = true
            try publisher.publish()
            try app.poll(publisher.files)
            #expect(app.running == nil)
            publisher.channel.isEmergency = false
            try publisher.publish()
            try app.poll(publisher.files)
            #expect(app.running == 42)
        }
    }
}
