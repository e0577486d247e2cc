import LarderFoundation
import Larder
import LarderSystem
import LarderCommand
import LarderSimulation

extension FleetPlan {
    /// The dumps that a device leaves, and what happened on it.
    struct Life: Sendable {
        var dumps: [MetricsDump]
        var truth: FleetTruth
    }

    private enum Event: Sendable {
        case load(resource: String, key: String)
        case update(Int)
        case restart
    }

    /// Simulates a device.
    ///
    /// - Parameter folder: a folder for the files of the device, which is made here and deleted afterwards.
    func live(_ device: Device, in folder: String) throws -> Life {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let world = SimulatedWorld(seed: device.seed, start: device.start)
        let events = events(of: device)
        return try world.run(leaving: .anything) { [self] world in
            let origins = Dictionary(
                uniqueKeysWithValues: policies.resources.map { ($0.name, model.origin(in: world.world(of: $0.name))) })
            let truth = Locked(FleetTruth())
            var dumps: [MetricsDump] = []
            var updates = 0
            var app = try await pantry(updates, origins, folder, world)
            var listening = app.attach(FleetObserver(truth: truth))
            func finish() async {
                listening.stop()
                var dump = await app.metrics.dump()
                // A simulated device belongs to no host.
                (dump.host, dump.process) = (nil, "app")
                dumps.append(dump)
                await app.close()
            }
            for (time, event) in events {
                let pause = time - world.uptime
                if pause > .zero { try await world.sleep(for: pause) }
                switch event {
                case .load(let resource, let key):
                    let handle = app.resource(resource)
                    truth.withLock { $0[resource].requests += 1 }
                    world.spawn { _ = try? await handle.load(["key": key]) }
                case .update(let number):
                    updates = number
                    _ = try await app.replace(policies: policies.texts(after: number))
                case .restart:
                    await finish()
                    app = try await pantry(updates, origins, folder, world)
                    listening = app.attach(FleetObserver(truth: truth))
                }
            }
            try await world.sleep(for: max(.zero, device.end - world.uptime))
            await finish()
            for (name, origin) in origins { truth.withLock { $0[name].originCalls += origin.calls } }
            return Life(dumps: dumps, truth: truth.withLock { $0 })
        }
    }

    private func pantry(
        _ updates: Int, _ origins: [String: ModelledOrigin], _ folder: String, _ world: SimulatedWorld
    ) async throws -> Pantry {
        let reader = try PolicyReader(
            registry: .standard, texts: policies.texts(after: updates), files: nil, environment: [:])
        return try await Pantry(
            reader: reader, cache: URL(filePath: folder + "/cache"), data: URL(filePath: folder + "/data"),
            world: world, substitute: { [model] policy in origins[policy.resource] ?? model.origin(in: world) })
    }

    /// The events of a device's life, in order.
    private func events(of device: Device) -> [(time: Duration, event: Event)] {
        let quiet = ([device.end] + (device.restart.map { [$0] } ?? [])).map { ($0 - Self.rest)..<$0 }
        var events: [(time: Duration, event: Event)] = []
        for (number, resource) in policies.resources.enumerated() {
            for request in traffic.requests(seed: device.seed &+ UInt64(number)) {
                if request.at >= device.end { break }
                if quiet.contains(where: { $0.contains(request.at) }) { continue }
                events.append((request.at, .load(resource: resource.name, key: request.key)))
            }
        }
        for (number, time) in device.updates.enumerated() where time < device.end {
            events.append((time, .update(number + 1)))
        }
        if let restart = device.restart { events.append((restart, .restart)) }
        return events.sorted { $0.time < $1.time }
    }
}

/// Counts the loads of a device by their reports, independently of its counters.
private struct FleetObserver: MetricsSink {
    let truth: Locked<FleetTruth>

    func ended(_ load: LoadReport) {
        guard let outcome = load.outcome else { return }
        truth.withLock { $0[load.resource].add(load, outcome) }
    }
}
