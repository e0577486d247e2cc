import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem

@testable import LarderSync

/// A history of three devices and a service, drawn from a seed.
struct WorldPlay: Sendable {
    /// A change that a user made.
    struct Write: Sendable {
        enum Kind: Sendable { case create, update, delete }

        var number: Int
        var device: Int
        var kind: Kind
        var id: String
        var field = "title"
        /// A value that nobody else writes.
        var token = ""
        var source: String
        /// Whether the method returned.
        var isAcknowledged: Bool
        /// The value that the user saw before.
        var seen: String?
        /// The tokens of changes that were discarded later have a number of at most this.
        var isDiscarded = false
    }

    struct Report: Sendable {
        var rules = WorldRules()
        var history: [String] = []
        var violations: [String] = []
        var points = 0
    }

    var seed: UInt64
    var crash: Int?
    var rules: WorldRules

    init(seed: UInt64, crash: Int? = nil) {
        var random = SeededGenerator(seed: seed, stream: "rules")
        self.init(seed: seed, crash: crash, rules: WorldRules(&random))
    }

    init(seed: UInt64, crash: Int? = nil, rules: WorldRules) {
        (self.seed, self.crash, self.rules) = (seed, crash, rules)
    }

    /// Plays the history, and judges it.
    func play() throws -> Report {
        let base = SimulatedWorld(seed: seed, interleaving: .shuffled)
        let network = WorldNetwork(base, rules, seed: seed, crash: crash)
        network.state.withLock { $0.services["here"]?.fill(rules.initial) }
        let folder = try WorldFolder()
        return try base.run(leaving: .anything) { [self] _ in
            let lastWrite = Locked(0)
            let devices = try (0..<3).map { try WorldDevice($0, in: folder.url, network, lastWrite) }
            for device in devices { try await device.open() }
            var steps = WorldSteps(
                rules: rules, network: network, devices: devices, random: SeededGenerator(seed: seed, stream: "steps"),
                lastWrite: lastWrite)
            var report = Report(rules: rules)
            do {
                for _ in 0..<rules.steps { try await steps.next() }
                report.violations = try await steps.heal()
            } catch let violation as WorldViolation { report.violations = [violation.text] }
            if report.violations.isEmpty {
                report.violations = try await WorldJudge(devices: devices, network: network, writes: steps.writes)
                    .violations()
            }
            (report.history, report.points) = network.state.withLock { ($0.history, $0.points) }
            for device in devices { await device.close() }
            return report
        }
    }
}

/// A folder in memory if the system has one, so that nothing waits for a disk.
final class WorldFolder: Sendable {
    let url: URL

    init() throws {
        let memory = URL(filePath: "/dev/shm")
        let outer =
            FileManager.default.fileExists(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
        url = outer.appending(path: "larder-world-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
