import Larder
import LarderFoundation
import LarderSimulation
import LarderStories
import LarderSync
import LarderSystem

/// A simulated evening of a user with two devices, on which records are changed without a network. The service is simulated, and
/// speaks as the policy says.
struct DemoEvening: Sendable {
    /// The result of the evening. Nothing if no policy has records that are sent.
    struct Account: Sendable {
        /// The dumps of both devices.
        var dumps: [MetricsDump] = []
        /// The changes that lie with the user, because they were refused or overtaken.
        var letters = 0
    }

    let seed: UInt64
    let policies: URL
    let registry: Registry
    var environment = ProcessInfo.processInfo.environment

    /// Simulates the evening, with the records of each policy in turn.
    func live() throws -> Account {
        let reader = PolicyReader(registry: registry, folder: policies.shortPath, environment: environment)
        let sound = try reader.readSound().policies.filter { $0.tree["records"] != nil }
        var account = Account()
        for policy in sound {
            guard let part = try live(with: policy) else { continue }
            account.letters += part.letters
            if account.dumps.isEmpty {
                account.dumps = part.dumps
            } else {
                for (device, dump) in part.dumps.enumerated() { account.dumps[device].resources += dump.resources }
            }
        }
        return account
    }

    /// Returns nil if nothing is sent to the service of a policy.
    private func live(with policy: Policy) throws -> Account? {
        let resource = policy.resource
        // Ten in the evening of Monday, 5 January 2026, UTC.
        let world = SimulatedWorld(seed: seed &+ 1, start: Timestamp(seconds: 1_767_571_200 + 22 * 3_600))
        let service = SimulatedService(in: world)
        let simulated = try registry.simulated(
            store: { _, _, _, own in try own() }, origin: { _, _ in service })
        let reader = try PolicyReader(
            registry: simulated, texts: [resource: policy.tree.shown.text()], files: policies.shortPath,
            environment: environment)
        let folders = try [TemporaryFolder.inMemory(), TemporaryFolder.inMemory()]
        return try world.run(leaving: .anything) { world in
            world.network = .online
            var devices: [Pantry] = []
            for folder in folders {
                devices.append(
                    try await Pantry(
                        reader: reader, cache: folder.url.appending(path: "cache"),
                        data: folder.url.appending(path: "data"), world: world, removesUnused: false))
            }
            guard let dialect = devices[0].serviceDialect(of: resource), dialect.push != nil else { return nil }
            service.dialect = dialect
            let user = DemoTraveller(
                records: devices.map { $0.records(resource) }, id: dialect.id, service: service, world: world)
            try await dialect.namesRecords ? user.collect() : user.watch()
            var account = Account()
            for (records, pantry) in zip(user.records, devices) {
                account.letters += try await records.rejected().count
                var dump = await pantry.metrics.dump()
                // A simulated evening belongs to no host and no installation.
                (dump.host, dump.installation) = (nil, nil)
                account.dumps.append(dump)
                await pantry.close()
            }
            return account
        }
    }
}

/// The user of the demo's evening: one device is in a tunnel, the other on a plane.
private struct DemoTraveller {
    /// The records on each device.
    let records: [Records<JSONText>]
    let id: JSONPointer
    let service: SimulatedService
    let world: SimulatedWorld

    private var phone: Records<JSONText> { records[0] }
    private var tablet: Records<JSONText> { records[1] }

    /// Makes collections in the tunnel, renames one on both devices, and gives one a name that the service refuses.
    func collect() async throws {
        service.put("shared", Self.named("Ramen"))
        try await sync()
        world.network = .offline
        for name in ["Udon", "Soba", "Okonomiyaki"] {
            let made = try await phone.create(Self.named(name))
            if name == "Udon" { try await rename(made.id, "Udon, Osaka", on: phone) }
            try await sleep(1)
        }
        try await rename("shared", "Ramen, Osaka", on: phone)
        try await sleep(5)
        try await rename("shared", "Ramen, Kyoto", on: tablet)
        try await arrive()
        service.trouble = [.status(422)]
        try await rename("shared", "", on: tablet)
        try await sleep(10)
        world.network = .offline
        _ = try await phone.create(Self.named("Takoyaki"))
        try await sleep(10)
    }

    /// Marks ten videos as watched on the plane, and takes one of the marks back.
    func watch() async throws {
        service.put("video-0", JSONText(["status": "watched"]))
        try await sync()
        world.network = .offline
        for number in 1...10 {
            let video = JSONText(["status": "watched"]).setting(id.steps, to: JSONText(string: "video-\(number)"))
            _ = try await tablet.create(video)
            try await sleep(1)
        }
        try await tablet.update("video-3") { $0 = $0.setting(["status"], to: JSONText(string: "skipped")) }
        try await arrive()
    }

    /// Brings the network back, and both devices and the service together.
    private func arrive() async throws {
        try await sleep(5)
        world.network = .online
        try await sleep(10)
        try await sync()
    }

    /// A run that fails is counted in the metrics.
    private func sync() async throws {
        for device in records { do { try await device.sync() } catch is RecordError {} catch is LoadError {} }
    }

    private func rename(_ id: String, _ name: String, on device: Records<JSONText>) async throws {
        try await device.update(id) { $0 = $0.setting(["name"], to: JSONText(string: name)) }
    }

    private func sleep(_ minutes: Int64) async throws { try await world.sleep(for: .seconds(60 * minutes)) }

    private static func named(_ name: String) -> JSONText { JSONText(["name": .string(name)]) }
}
