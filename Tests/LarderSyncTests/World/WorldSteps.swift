import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem

@testable import LarderSync

/// The steps of users, devices and services.
struct WorldSteps {
    let rules: WorldRules
    let network: WorldNetwork
    let devices: [WorldDevice]
    var random: SeededGenerator
    let lastWrite: Locked<Int>
    private(set) var writes: [WorldPlay.Write] = []
    private var views: [WorldView]

    private var base: SimulatedWorld { network.base }

    init(
        rules: WorldRules, network: WorldNetwork, devices: [WorldDevice], random: SeededGenerator,
        lastWrite: Locked<Int>
    ) {
        (self.rules, self.network, self.devices) = (rules, network, devices)
        (self.random, self.lastWrite) = (random, lastWrite)
        views = devices.map { WorldView($0) }
    }

    /// Does a step that is drawn.
    mutating func next() async throws {
        let device = devices[random.roll(devices.count)]
        if device.hasEnded { try await device.open() }
        let kind = random.roll(26)
        do {
            switch kind {
            case 0...4: try await create(on: device, refersToOther: false)
            case 5: try await create(on: device, refersToOther: true)
            case 6...12: try await update(on: device)
            case 13, 14: try await delete(on: device)
            case 15: toggleNetwork(of: device)
            case 16, 17: sync(device)
            case 18: try await restart(device)
            case 19: try await reload(device)
            case 20: if rules.hasLogouts { try await logOut(device) }
            case 21: if rules.hasOtherSource { try await changeSource(of: device) }
            case 22: if rules.hasResets { reset() }
            case 23, 24: sync(device)
            default: break
            }
        } catch is SimulatedProcess.Ended {} catch is RecordError {} catch {
            if !device.hasEnded { throw error }
        }
        let pauses: [Duration] = [.zero, .milliseconds(400), .seconds(3), .seconds(90), .seconds(1_800)]
        try await base.sleep(for: pauses[random.roll(pauses.count)])
        for place in views.indices { try await views[place].look() }
    }

    // MARK: Users

    private mutating func number() -> Int {
        lastWrite.withLock { last in
            last += 1
            return last
        }
    }

    /// Notes a write, and whether it returned.
    private mutating func write(
        _ write: WorldPlay.Write, _ body: (_ token: String) async throws -> String?
    ) async throws {
        var write = write
        network.note("\(write.device) \(write.kind) \(write.id) \(write.field) \(write.token)")
        do {
            let id = try await body(write.token)
            (write.id, write.isAcknowledged) = (id ?? write.id, true)
            network.note("\(write.device) made \(write.token) of \(write.id)")
            views[write.device].leave(write)
            writes.append(write)
        } catch let error as RecordError { network.note("\(write.device) cannot: \(error.code.rawValue)") } catch {
            // The process has ended; perhaps the write was made before.
            writes.append(write)
            throw error
        }
    }

    private mutating func token(_ number: Int) -> String { random.roll(12) == 0 ? "bad\(number)" : "w\(number)" }

    private mutating func create(on device: WorldDevice, refersToOther: Bool) async throws {
        let number = number()
        let token = token(number)
        var id = "c\(random.roll(5))"
        if rules.serverNames { id = "" }
        let notes = try device.notes
        let other = refersToOther ? try await draw(from: device) : nil
        var members: [(name: String, value: JSONText)] = [("title", JSONText(string: token))]
        if !rules.serverNames { members.append(("id", JSONText(string: id))) }
        if let other { members.append(("ref", JSONText(string: other.id))) }
        let record = JSONText(object: members)
        try await write(
            WorldPlay.Write(
                number: number, device: device.number, kind: .create, id: id, token: token,
                source: device.state.withLock { $0.source }, isAcknowledged: false)
        ) { _ in try await notes.create(record).id }
    }

    private mutating func draw(from device: WorldDevice) async throws -> Record<JSONText>? {
        let shown = try await device.shown()
        return shown.isEmpty ? nil : shown[random.roll(shown.count)]
    }

    private mutating func update(on device: WorldDevice) async throws {
        guard let record = try await draw(from: device) else { return }
        let number = number()
        let (token, field) = (token(number), random.roll(3) == 0 ? "body" : "title")
        let notes = try device.notes
        try await write(
            WorldPlay.Write(
                number: number, device: device.number, kind: .update, id: record.id, field: field, token: token,
                source: device.state.withLock { $0.source }, isAcknowledged: false, seen: record.value[field]?.string)
        ) { token in
            try await notes.update(record.id) { $0 = $0.setting([field], to: JSONText(string: token)) }
            return nil
        }
        if writes.last?.number == number, try await notes.get(record.id).record?.value[field]?.string != token {
            throw WorldViolation(text: "\(device.number) does not see its own \(token)")
        }
    }

    private mutating func delete(on device: WorldDevice) async throws {
        guard let record = try await draw(from: device) else { return }
        let notes = try device.notes
        try await write(
            WorldPlay.Write(
                number: number(), device: device.number, kind: .delete, id: record.id,
                source: device.state.withLock { $0.source }, isAcknowledged: false)
        ) { _ in
            try await notes.delete(record.id)
            return nil
        }
    }

    // MARK: Devices and services

    private func toggleNetwork(of device: WorldDevice) {
        let isOffline = network.state.withLock { state in
            if state.offline.remove(device.number) != nil { return false }
            state.offline.insert(device.number)
            return true
        }
        network.note("\(device.number) is \(isOffline ? "offline" : "online")")
    }

    private func sync(_ device: WorldDevice) {
        network.note("\(device.number) syncs")
        guard let notes = try? device.notes else { return }
        base.spawn { try? await notes.sync() }
    }

    private func restart(_ device: WorldDevice) async throws {
        network.note("\(device.number) restarts")
        try await device.restart()
    }

    private mutating func reload(_ device: WorldDevice) async throws {
        network.note("\(device.number) reloads")
        try await device.change(gather: ["300ms", "2s"][random.roll(2)])
    }

    private mutating func logOut(_ device: WorldDevice) async throws {
        if device.state.withLock({ $0.account }) == nil { return signIn(device) }
        let discards = random.roll(3) == 0
        network.note("\(device.number) logs out\(discards ? " and discards" : "")")
        device.state.withLock { $0.account = nil }
        if discards {
            for place in writes.indices where writes[place].device == device.number { writes[place].isDiscarded = true }
        }
        views[device.number].forget()
        try await device.pantry.clear(.scope("alice"), discardingUnsent: discards)
    }

    private func signIn(_ device: WorldDevice) {
        network.note("\(device.number) signs in")
        device.state.withLock { $0.account = "alice" }
    }

    private mutating func changeSource(of device: WorldDevice) async throws {
        let source = device.state.withLock { $0.source == "here" ? "there" : "here" }
        network.note("\(device.number) goes to \(source)")
        views[device.number].forget()
        try await device.change(source: source)
    }

    /// Keeps the state of the service, or goes back to one that was kept.
    private mutating func reset() {
        for place in views.indices { views[place].forget() }
        network.note("the service keeps its state or goes back")
        network.state.withLock { state in
            guard let backup = state.backup, var here = state.services["here"] else {
                state.backup = state.services["here"]
                return
            }
            state.forgotten += here.applied.dropFirst(backup.applied.count)
            here.restore(backup)
            (state.services["here"], state.backup) = (here, nil)
        }
    }

    // MARK: The end

    /// Makes everything whole, and waits until everything has come to rest by itself.
    ///
    /// - Returns: what has not.
    func heal() async throws -> [String] {
        network.note("all is whole")
        network.state.withLock { ($0.isWhole, $0.offline) = (true, []) }
        for device in devices where device.state.withLock({ $0.account }) == nil { signIn(device) }
        var left: [String] = []
        let sources = rules.hasOtherSource ? ["there", "here", "there", "here"] : ["here"]
        for source in sources {
            for device in devices {
                if device.hasEnded { try await device.open() }
                if device.state.withLock({ $0.source }) != source { try await device.change(source: source) }
            }
            // Alarms must be enough.
            for _ in 0..<8 {
                try await base.sleep(for: .seconds(300))
                for device in devices where device.hasEnded { try await device.open() }
            }
            left = []
            for device in devices {
                let pending = try await device.books().pending
                if pending > 0 { left.append("\(device.number) has \(pending) changes left") }
            }
        }
        if !left.isEmpty {
            network.note("changes are left")
            return left + (try await explain())
        }
        for _ in 0..<2 {
            for device in devices {
                if device.hasEnded { try await device.open() }
                do { try await device.notes.sync() } catch { if !device.hasEnded { left.append("sync: \(error)") } }
            }
        }
        for device in devices where device.hasEnded {
            try await device.open()
            try await device.notes.sync()
        }
        return left
    }

    private func explain() async throws -> [String] {
        var lines: [String] = []
        for device in devices {
            for record in try await device.shown() {
                guard let row = try await device.notes.row(record.id), !row.writes.isEmpty else { continue }
                lines.append(
                    "\(device.number) \(record.id): " + row.writes.map { "\($0.kind) \($0.status) \($0.next)" }.joined()
                )
            }
        }
        return lines
    }
}

/// A promise that was broken.
struct WorldViolation: Error { var text: String }
