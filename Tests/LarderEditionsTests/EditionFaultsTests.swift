import Larder
import LarderSimulation
import Testing

@testable import LarderEditions

/// Disks that are full, locked or shared with a stopped process.
@Suite struct EditionFaultsTests {
    /// A confirmed edition 41, and edition 42 on trial.
    private static func run(_ test: (inout Publisher, inout Installation) throws -> Void) throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(41), 41)
        var app = try publisher.installation()
        app.answer(3)
        try app.poll(publisher.files)
        publisher.offer(try publisher.edition(42), 42)
        try publisher.publish(by: publisher.release)
        try app.poll(publisher.files)
        #expect(app.running == 42 && app.state?.confirmed == publisher.channel.editions[1].digest)
        try test(&publisher, &app)
    }

    @Test func stateThatCannotBeReadNowIsNotOverwritten() throws {
        try Self.run { publisher, app in
            app.answer(1)
            app.close()
            let former = app.files.contents
            app.files.unreadable = KeptEditions.stateName
            try app.start("another")
            #expect(app.running == nil)
            app.answer(1)
            publisher.channel.editions[0].to.share = 0
            try publisher.publish()
            #expect(throws: MemoryFiles.Failure.self) { try app.poll(publisher.files) }
            #expect(app.machine?.facts.dumped["channel_failure"] == "disk")
            #expect(app.files.contents == former)
            app.files.unreadable = nil
            try app.poll(publisher.files)
            #expect(app.running == 41, "once it can be read, all goes on")
        }
    }

    @Test func runningEditionStaysWhileFilesCannotBeRead() throws {
        try Self.run { _, app in
            app.files.unreadable = KeptEditions.stateName
            try app.reload()
            #expect(app.running == 42 && app.events.last != .left(42))
        }
    }

    @Test func startWaitsForNoStoppedProcess() throws {
        try Self.run { _, app in
            app.answer(1)
            app.close()
            app.files.isLockedByStopped = true
            try app.start()
            #expect(app.running == 42)
            app.answer(1)
            #expect(app.running == 42)
        }
    }

    @Test func refusedEditionIsTriedOnceInAProcessThatCannotSave() throws {
        try Self.run { _, app in
            app.close()
            app.files.fault = .full
            var tries = 0
            app.compose = { edition in
                if edition.number == 42 { tries += 1 }
                return edition.number == 42 ? EditionError(.unsound, "an error") : nil
            }
            try app.start()
            #expect(app.running == 41 && tries == 1)
        }
    }

    @Test func refusedEditionIsTriedAgainWithOtherPlugins() throws {
        try Self.run { _, app in
            app.close()
            app.compose = { $0.number == 42 ? EditionError(.unsound, "an error") : nil }
            try app.start()
            #expect(app.running == 41)
            app.close()
            app.compose = { _ in nil }
            try app.start()
            #expect(app.running == 41)
            app.close()
            try app.rules.registry.register(.wrapper("extra", "Does nothing.") { _, inner in inner })
            try app.start()
            #expect(app.running == 42)
        }
    }

    @Test func onlyAConfirmedEditionTakesEffectWithoutAMark() throws {
        try Self.run { publisher, app in
            app.close()
            app.files.fault = .readOnly
            try app.start()
            #expect(app.running == nil)
            app.close()
            app.files.fault = nil
            publisher.channel.editions[0].to.share = 0
            try publisher.publish()
            try app.start()
            try app.poll(publisher.files)
            app.close()
            app.files.fault = .readOnly
            try app.start()
            #expect(app.running == 41)
        }
    }

    @Test func editionWhoseFileCannotBeReadNowIsNotForgotten() throws {
        try Self.run { publisher, app in
            app.answer(3)
            try app.poll(publisher.files)
            app.close()
            app.now = Timestamp(seconds: 4_100_000_000)
            app.files.unreadable = app.files.names.first { $0.hasSuffix(app.state?.confirmed?.suffix(64) ?? "none") }
            #expect(app.files.unreadable != nil)
            try app.start()
            #expect(app.running == nil)
            app.close()
            app.files.unreadable = nil
            try app.start()
            #expect(app.running == 42, "an old channel changes nothing")
        }
    }

    @Test func processesThatAreKilledTogetherCountOnce() throws {
        try Self.run { publisher, app in
            app.answer(3)
            try app.poll(publisher.files)
            app.close()
            var others = (0..<5).map { _ in
                Installation(publisher.rules(), files: MemoryFiles(sharing: app.files))
            }
            for index in others.indices { try others[index].start() }
            others = []
            try app.start()
            #expect(app.running == 42)
        }
    }

    @Test func failedLoadIsNoCrash() throws {
        try Self.run { _, app in
            for _ in 0..<4 {
                app.answer(0)
                app.kill()
                try app.start()
            }
            #expect(app.running == 42 && app.machine?.facts.isTrial == true)
        }
    }

    @Test func unchangedChannelThatIsNoLongerValidConfirmsNothing() throws {
        try Self.run { _, app in
            #expect(throws: Never.self) { try app.machine?.kept.checkIsValid(at: app.now) }
            let error = #expect(throws: EditionError.self) {
                try app.machine?.kept.checkIsValid(at: Timestamp(seconds: 4_100_000_000))
            }
            #expect(error?.code == .expired)
        }
    }

    @Test func haltedEditionIsNotOffered() throws {
        try Self.run { publisher, app in
            publisher.channel.editions[0].to.share = 0
            try publisher.publish()
            try app.poll(publisher.files)
            #expect(app.running == 41 && app.machine?.facts.dumped["offered"] == "41")
        }
    }

    @Test func deletedFileOfTheRunningEditionIsFetchedAgain() throws {
        try Self.run { publisher, app in
            app.files.contents = [:]
            try app.poll(publisher.files)
            #expect(app.running == 42 && !app.events.contains(.left(42)))
            app.answer(1)
            app.kill()
            try app.start()
            #expect(app.running == 42)
        }
    }

    @Test func whatAKilledProcessLeftIsRemoved() throws {
        try Self.run { publisher, app in
            app.files.contents["state.json.0123.tmp"] = [1]
            publisher.offer(try publisher.edition(43), 43)
            try publisher.publish(by: publisher.release)
            try app.poll(publisher.files)
            #expect(app.running == 43 && !app.files.names.contains { $0.hasSuffix(".tmp") })
        }
    }

    @Test func onlySomeEditionsThatAreNotInUseAreKept() throws {
        try Self.run { publisher, app in
            for number in 43...50 {
                publisher.offer(try publisher.edition(number), number)
                try publisher.publish(by: publisher.release)
                try app.poll(publisher.files)
            }
            #expect(app.running == 50)
            let kept = app.files.names.filter { $0.hasPrefix("edition-") }
            // The running one, the confirmed one and four to go back to.
            #expect(kept.count <= 7)
            #expect(kept.contains { $0.hasSuffix(app.state?.confirmed?.suffix(64) ?? "none") })
        }
    }
}
