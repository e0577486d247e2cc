import Larder
import LarderSimulation
import Testing

@testable import LarderEditions

/// The promises about editions, each as one test.
@Suite struct EditionInvariantsTests {
    private static let own = [
        "feed": """
        { "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "memory" }
        """
    ]

    @Test func sameInstallationAndSaltGiveTheSameArm() {
        let audience = ChannelFile.Audience(share: 0.05, control: 0.05, salt: "42")
        var counts: [EditionArm: Int] = [:]
        for number in 0..<20_000 {
            let arm = EditionArm(of: "installation \(number)", in: audience)
            counts[arm, default: 0] += 1
            var grown = audience
            grown.share = 0.25
            let after = EditionArm(of: "installation \(number)", in: grown)
            #expect(arm == EditionArm(of: "installation \(number)", in: audience))
            #expect(arm != .trial || after == .trial, "who has the edition keeps it when the share grows")
            #expect(arm != .control || after == .control)
        }
        #expect((850...1_150).contains(counts[.trial] ?? 0) && (850...1_150).contains(counts[.control] ?? 0))
    }

    @Test func steerKeyBringsNoNewBytesIntoEffect() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(41), 41)
        try publisher.publish(by: publisher.release)
        var app = Installation(publisher.rules())
        try app.start()
        try app.poll(publisher.files)
        publisher.offer(try publisher.edition(42, by: publisher.steer), 42)
        try publisher.publish(by: publisher.steer)
        try app.poll(publisher.files)
        #expect(app.running == 41)
        guard case .refused(nil, let error)? = app.events.last else { return #expect(Bool(false)) }
        #expect(error.code == .unknownKey)
    }

    @Test func bytesOnTheDiskAreVerifiedAgainAtEachStart() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(41), 41)
        try publisher.publish(by: publisher.release)
        var app = Installation(publisher.rules())
        try app.start()
        try app.poll(publisher.files)
        app.close()
        let name = try #require(app.files.names.first { $0.hasPrefix("edition-") })
        app.files.contents[name]?[200] ^= 1
        try app.start()
        #expect(app.running == nil)
        try app.poll(publisher.files)
        #expect(app.running == 41, "the genuine bytes are fetched again")
    }

    @Test func everyKillLeadsToARunningApp() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(41), 41)
        try publisher.publish(by: publisher.release)
        for changes in 0..<12 {
            var app = Installation(publisher.rules())
            try app.start()
            app.files.kill(after: changes)
            try? app.poll(publisher.files)
            app.answer(3)
            try? app.poll(publisher.files)
            app.kill()
            app.files.kill(after: nil)
            for _ in 0..<2 {
                try app.start()
                app.answer(3)
                try app.poll(publisher.files)
            }
            #expect(app.running == 41 && app.state?.confirmed != nil, "killed after \(changes) changes")
        }
    }
}
