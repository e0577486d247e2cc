import Larder
import LarderSimulation

@testable import LarderEditions

/// A random history of one installation and of the team that publishes for it.
final class EditionHistory {
    /// One of the processes.
    private final class Process {
        var app: Installation
        /// Its files, also while the app is doing something.
        let files: MemoryFiles
        /// The edition that was begun last, and whether a load was answered since.
        var begun: String?
        var hasAnswered = false

        init(_ app: Installation) { (self.app, files) = (app, app.files) }
    }

    private let world: SimulatedWorld
    private let disk = MemoryFiles()
    private var publisher: Publisher
    private var processes: [Process] = []
    /// The digests of the editions that were released, with their numbers.
    private var genuine: [String: Int] = [:]
    private var number = 0
    private var backup: [String: [UInt8]] = [:]
    private var older: [[String: [UInt8]]] = []
    /// The highest revision since the files of the channel were last lost.
    private var revision = 0
    /// The starts of each edition, one after the other, that were killed before an answer; and the editions with two.
    private var unanswered: [String: Int] = [:]
    private var condemnable: Set<String> = []
    private var isNested = false
    private(set) var faults: [String] = []

    /// Editions that crash the app, and those that have errors, by their number.
    private static func crashes(_ number: Int) -> Bool { number % 7 == 3 }
    private static func isUnsound(_ number: Int) -> Bool { number % 5 == 1 }

    init(seed: UInt64) throws {
        world = SimulatedWorld(seed: seed)
        publisher = try Publisher(in: world)
        for files in [MemoryFiles(sharing: disk), MemoryFiles(sharing: disk)] {
            let process = Process(Installation(publisher.rules(), files: files))
            process.app.compose = { [unowned process] edition in
                (process.begun, process.hasAnswered) = (edition.digest, false)
                if Self.crashes(edition.number) { throw MemoryFiles.Killed() }
                return Self.isUnsound(edition.number) ? EditionError(.unsound, "an error") : nil
            }
            processes.append(process)
        }
    }

    var unchangedPolls: Int { processes.reduce(0) { $0 + $1.app.unchangedPolls } }
    private var state: EditionState? { disk.contents[KeptEditions.stateName].flatMap { EditionState(reading: $0) } }

    private func chance(_ count: Int) -> Int { Int(world.random() % UInt64(count)) }

    // MARK: The history

    func live(steps: Int) throws {
        for (process, other) in [(processes[0], processes[1]), (processes[1], processes[0])] {
            // Now and then, the other process does something between two accesses of this one.
            process.app.files.meanwhile = { [unowned self, unowned other] in
                if isNested || chance(8) > 0 { return }
                isNested = true
                defer { isNested = false }
                step(of: other)
            }
        }
        for process in processes { start(process) }
        for _ in 0..<steps {
            let process = processes[chance(2)]
            if chance(2) == 0 { try change(process) } else { step(of: process) }
            for process in processes where process.app.machine == nil || process.app.files.isKilled { start(process) }
        }
    }

    /// A good edition comes, and the app is used as usual.
    func recover() throws {
        for process in processes {
            process.app.now = Timestamp(seconds: 1_000_000_000)
            process.app.files.meanwhile = nil
        }
        (disk.fault, disk.unreadable, disk.isLockedByStopped) = (nil, nil, false)
        number = number / 70 * 70 + 70
        let file = try publisher.edition(number)
        genuine[file.digest] = number
        publisher.channel.editions = []
        // A thief of the steer key may have published the next revision already.
        publisher.channel.revision += 100
        publisher.offer(file, number)
        try publisher.publish(by: publisher.release)
        for _ in 0..<4 {
            for process in processes {
                start(process)
                for _ in 0..<2 {
                    answer(process)
                    poll(process, publisher.files)
                }
            }
        }
        for process in processes where process.app.running != number {
            report("the edition \(number) is not in effect")
        }
        if state?.confirmed != file.digest { report("the edition \(number) is not confirmed") }
    }

    /// Something that a process does by itself.
    private func step(of process: Process) {
        switch chance(8) {
        case 0, 1, 2: poll(process, publisher.files)
        case 3, 4: answer(process)
        case 5: kill(process)
        case 6:
            process.app.close()
            if canEndMark(process) { process.begun = nil } else { kill(process) }
        // A process that is killed already stays so.
        default: if !process.app.files.isKilled { process.app.files.kill(after: chance(6)) }
        }
        check(process)
    }

    /// Something that others do.
    private func change(_ process: Process) throws {
        switch chance(10) {
        case 0, 1, 2: try publish()
        case 3: poll(process, older.randomElement(using: world) ?? [:])
        case 4: poll(process, try forged())
        case 5: backup = disk.contents
        case 6:
            // A backup comes back, perhaps on another device.
            for process in processes { kill(process) }
            disk.contents = backup
            lowerExpectations()
        case 7:
            for process in processes { kill(process) }
            let name = disk.names.randomElement(using: world) ?? ""
            switch chance(3) {
            case 0: disk.contents[name] = nil
            case 1: disk.contents[name] = Array((disk.contents[name] ?? []).dropLast(1 + chance(200)))
            default:
                if let count = disk.contents[name]?.count, count > 0 {
                    disk.contents[name]?[chance(count)] ^= UInt8(1 << chance(8))
                }
            }
            lowerExpectations()
        case 8:
            disk.fault = [.full, .readOnly, nil][chance(3)]
            disk.isLockedByStopped = chance(4) == 0
            disk.unreadable = chance(3) == 0 ? disk.contents.keys.sorted().randomElement(using: world) : nil
        default:
            let now = Timestamp(seconds: Int64(chance(5)) * 1_000_000_000)
            for process in processes { process.app.now = now }
            if chance(2) == 0 { process.app.own = "own\(chance(3))" }
        }
        check(process)
    }

    // MARK: Steps

    private func start(_ process: Process) {
        for _ in 0..<4 {
            kill(process)
            process.app.files.kill(after: nil)
            do {
                try process.app.start("0123456789abcdef")
                return check(process)
            } catch {
                // The app has crashed while it composed.
            }
        }
        report("the app cannot be started: \(disk.fault.map { "\($0)" } ?? "a sound disk")")
    }

    private func poll(_ process: Process, _ files: [String: [UInt8]]) {
        if files.isEmpty { return }
        do { try process.app.poll(files) } catch is MemoryFiles.Killed { kill(process) } catch {
            // The disk takes nothing now.
        }
        check(process)
    }

    private func answer(_ process: Process) {
        // The first answer of a process ends the count of ended starts, if it can be saved.
        let digest = process.app.machine?.running?.digest
        let isFirst = digest == process.begun && !process.hasAnswered
        let former = digest.flatMap { unanswered[$0] } ?? 0
        if let digest, isFirst { unanswered[digest] = 0 }
        for _ in 0..<4 { process.app.answer(1) }
        if isFirst, canEndMark(process) { process.hasAnswered = true }
        let isSaved = disk.fault == nil && disk.unreadable == nil && !disk.isLockedByStopped
        if let digest, isFirst, !isSaved || process.app.files.isKilled { unanswered[digest, default: 0] += former }
        check(process)
    }

    /// Whether the mark of its start can be removed: not from a disk that takes no change.
    private func canEndMark(_ process: Process) -> Bool { disk.fault != .readOnly && !process.app.files.isKilled }

    private func kill(_ process: Process) {
        // A process that is killed while it goes to another edition leaves the mark of the former one.
        var digests = process.app.files.begun
        process.app.kill()
        if let digest = process.begun, !process.hasAnswered { digests.insert(digest) }
        process.begun = nil
        for digest in digests { countEndedStart(of: digest) }
    }

    private func countEndedStart(of digest: String) {
        unanswered[digest, default: 0] += 1
        if unanswered[digest, default: 0] >= EditionState.mostEndedStarts { condemnable.insert(digest) }
    }

    private func publish() throws {
        if publisher.channel.revision > 0 { older.append(publisher.files) }
        if publisher.channel.editions.isEmpty || chance(2) == 0 {
            number += 1
            let file = try publisher.edition(number)
            genuine[file.digest] = number
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

    // MARK: Checks

    /// With both files of the channel, its revision is lost.
    private func lowerExpectations() {
        revision = min(revision, state?.revision ?? 0)
    }

    private func report(_ fault: String) { if !faults.contains(fault) { faults.append(fault) } }

    private func check(_ process: Process) {
        if let running = process.app.machine?.running, genuine[running.digest] == nil {
            report("an edition is in effect that nobody released")
        }
        for process in processes {
            let left = process.files.left.withLock { left in
                defer { left = [] }
                return left
            }
            for digest in left { countEndedStart(of: digest) }
        }
        guard let state else { return }
        if state.revision < revision { report("revision \(state.revision) after \(revision)") }
        revision = max(revision, state.revision)
        for rejection in state.rejections {
            guard let number = genuine[rejection.digest] else { continue }
            let isDeserved =
                rejection.fate == .refused
                ? Self.isUnsound(number) : Self.crashes(number) || condemnable.contains(rejection.digest)
            if !isDeserved { report("the good edition \(number) is \(rejection.fate.rawValue)") }
        }
    }
}

extension EditionFile {
    /// The digest by which a channel names it.
    fileprivate var digest: String { (try? file().digest) ?? "" }
}

extension RandomAccessCollection {
    fileprivate func randomElement(using world: SimulatedWorld) -> Element? {
        isEmpty ? nil : self[index(startIndex, offsetBy: Int(world.random() % UInt64(count)))]
    }
}
