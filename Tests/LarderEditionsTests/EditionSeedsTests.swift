import Larder
import LarderFoundation
import LarderSimulation
import Testing

@testable import LarderEditions

/// Random histories of an installation: kills between any two changes of its files, wrong clocks, old, forged and swapped
/// files, backups that come back, lost files, and older apps.
@Suite struct EditionSeedsTests {
    private static let count = Int(ProcessInfo.processInfo.environment["LARDER_EDITION_SEEDS"] ?? "") ?? 200

    @Test func noHistoryLeavesAnInstallationStuckOrTakesARevisionBack() throws {
        for seed in 0..<Self.count {
            var history = try History(seed: UInt64(seed))
            try history.live(steps: 40)
            try history.recover()
            #expect(history.faults == [], "seed \(seed)")
        }
    }
}

/// The history of one installation.
private struct History {
    private let world: SimulatedWorld
    private var publisher: Publisher
    private var app: Installation
    private var genuine: Set<String> = []
    private var number = 0
    private var backup: [String: [UInt8]] = [:]
    private var older: [[String: [UInt8]]] = []
    /// The highest revision since the last backup came back.
    private var revision = 0
    private(set) var faults: [String] = []

    /// Editions that crash the app, and those that have errors, by their number.
    private static func crashes(_ number: Int) -> Bool { number % 7 == 3 }
    private static func isUnsound(_ number: Int) -> Bool { number % 5 == 1 }

    init(seed: UInt64) throws {
        world = SimulatedWorld(seed: seed)
        publisher = try Publisher(in: world)
        app = Installation(publisher.rules())
        app.compose = { edition in
            if Self.crashes(edition.number) { throw MemoryFiles.Killed() }
            return Self.isUnsound(edition.number) ? EditionError(.unsound, "an error") : nil
        }
    }

    private func chance(_ count: Int) -> Int { Int(world.random() % UInt64(count)) }

    mutating func live(steps: Int) throws {
        try start()
        for _ in 0..<steps {
            switch chance(16) {
            case 0, 1: try publish()
            case 2, 3, 4: try poll(publisher.files)
            case 5: try poll(older.randomElement(using: world) ?? [:])
            case 6: try poll(try forged())
            case 7: try answer()
            case 8: app.kill()
            case 9: app.close()
            case 10: app.files.kill(after: chance(6))
            case 11: backup = app.files.contents
            case 12:
                // A backup comes back, perhaps on another device.
                app.kill()
                app.files.contents = backup
                revision = app.state?.revision ?? 0
            case 13:
                app.kill()
                let lost = app.files.names.randomElement(using: world) ?? ""
                app.files.contents[lost] = nil
                // With both files of the channel, its revision is lost.
                revision = min(revision, app.state?.revision ?? 0)
            case 14: app.now = Timestamp(seconds: Int64(chance(5)) * 1_000_000_000)
            default: app.own = "own\(chance(3))"
            }
            check()
            if app.machine == nil || app.files.isKilled { try start() }
            check()
        }
    }

    /// A good edition comes, and the app is used as usual.
    mutating func recover() throws {
        app.now = Timestamp(seconds: 1_000_000_000)
        number = number / 70 * 70 + 70
        let file = try publisher.edition(number)
        genuine.insert(file.digest)
        publisher.channel.editions = []
        // A thief of the steer key may have published the next revision already.
        publisher.channel.revision += 100
        publisher.offer(file, number)
        try publisher.publish(by: publisher.release)
        for _ in 0..<4 {
            try start()
            try answer()
            try poll(publisher.files)
            try answer()
            try poll(publisher.files)
        }
        if app.running != number { faults.append("the edition \(number) is not in effect") }
        if app.state?.confirmed != file.digest { faults.append("the edition \(number) is not confirmed") }
        check()
    }

    private mutating func start() throws {
        for _ in 0..<4 {
            app.kill()
            app.files.kill(after: nil)
            do {
                try app.start("0123456789abcdef")
                return
            } catch is MemoryFiles.Killed {
                // The app has crashed while it composed.
            }
        }
        faults.append("the app cannot be started")
    }

    private mutating func poll(_ files: [String: [UInt8]]) throws {
        if files.isEmpty { return }
        do { try app.poll(files) } catch is MemoryFiles.Killed { app.kill() }
    }

    private mutating func answer() throws { for _ in 0..<4 { app.answer(1) } }

    private mutating func publish() throws {
        if publisher.channel.revision > 0 { older.append(publisher.files) }
        if publisher.channel.editions.isEmpty || chance(2) == 0 {
            number += 1
            let file = try publisher.edition(number)
            genuine.insert(file.digest)
            publisher.offer(file, number, share: [0.05, 0.5, 1][chance(3)])
        } else {
            publisher.channel.editions[0].to.share = [0, 0.5, 1][chance(3)]
        }
        try publisher.publish(by: chance(2) == 0 ? publisher.release : publisher.steer)
    }

    /// The files of somebody who has no key, or only the steer key.
    private func forged() throws -> [String: [UInt8]] {
        var other = publisher
        let isSteered = chance(2) == 0
        let file = try other.edition(number + 1_000, by: isSteered ? other.steer : other.stranger)
        other.offer(file, number + 1_000)
        try other.publish(by: isSteered ? other.steer : other.stranger)
        if chance(2) == 0, let last = publisher.channel.editions.first {
            // Genuine lists, and another file in the place of the listed one.
            var files = publisher.files
            files[last.at] = file.bytes
            return files
        }
        return other.files
    }

    private mutating func check() {
        if let running = app.machine?.running, !genuine.contains(running.digest) {
            faults.append("an edition is in effect that nobody released")
        }
        guard let state = app.state else { return }
        if state.revision < revision { faults.append("revision \(state.revision) after \(revision)") }
        revision = max(revision, state.revision)
    }
}

extension RandomAccessCollection {
    fileprivate func randomElement(using world: SimulatedWorld) -> Element? {
        isEmpty ? nil : self[index(startIndex, offsetBy: Int(world.random() % UInt64(count)))]
    }
}
