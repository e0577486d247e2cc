import LarderFoundation
import Larder
import LarderSystem

/// Writes the dumps of a simulated fleet to a folder, with an account of everything that was simulated.
struct Fleet: Sendable {
    let plan: FleetPlan
    /// The folder, which is empty.
    let folder: String

    /// The name of the file with the account.
    static let account = "truth.json"

    private struct Result: Sendable {
        var device: FleetPlan.Device
        var truth: FleetTruth
        var sample: [UInt8]?
    }

    /// Simulates the devices, several at a time.
    ///
    /// - Parameter progress: called with the number of devices that are done.
    func write(progress: @escaping @Sendable (Int) -> Void) async throws -> FleetAccount {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "larder-fleet-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let revisions = try plan.revisions()
        var account = FleetAccount(seed: plan.seed, revisions: revisions)
        var sample: [UInt8] = []
        var rest = plan.devices[...]
        var done = 0
        try await withThrowingTaskGroup(of: Result.self) { group in
            func start() {
                guard let device = rest.popFirst() else { return }
                group.addTask { try write(device, scratch + "/\(device.number)") }
            }
            for _ in 0..<max(1, ProcessInfo.processInfo.activeProcessorCount) { start() }
            while let result = try await group.next() {
                start()
                done += 1
                progress(done)
                let names = plan.names(of: result.device)
                if result.device.number == 0 { sample = result.sample ?? [] }
                if result.device.isClockRight {
                    account.installations += 1
                    account.dumps += names.count
                    account.truth.add(result.truth)
                } else {
                    account.apart += names
                }
            }
        }
        for (name, bytes) in FleetBadFiles.all(from: sample) {
            try Disk.put(folder + "/" + name, bytes)
            account.bad.append(name)
        }
        try Disk.put(folder + "/" + Self.account, Array((account.json.text() + "\n").utf8))
        return account
    }

    private func write(_ device: FleetPlan.Device, _ scratch: String) throws -> Result {
        let life = try plan.live(device, in: scratch)
        let texts = life.dumps.map { Array($0.json.text(indented: false).utf8) }
        for (name, text) in zip(plan.names(of: device), texts) { try Disk.put(folder + "/" + name, text) }
        return Result(
            device: device, truth: life.truth, sample: device.number == 0 ? texts.last : nil)
    }
}

extension FleetPlan {
    /// The names of the files with a device's dumps.
    func names(of device: Device) -> [String] {
        (device.firstDump..<(device.firstDump + device.dumps)).map { number in
            let digits = "\(number)"
            return "dump-" + String(repeating: "0", count: max(0, 5 - digits.count)) + digits + ".json"
        }
    }

    /// The revisions of each resource, in the order in which they are rolled out.
    func revisions() throws -> [String: [String]] {
        var revisions: [String: [String]] = [:]
        for number in 0..<policies.revisions {
            let reader = try PolicyReader(
                registry: .standard, texts: policies.texts(after: number), files: nil, environment: [:])
            for policy in try reader.readAll() where revisions[policy.resource]?.last != policy.revision {
                revisions[policy.resource, default: []].append(policy.revision)
            }
        }
        return revisions
    }
}
