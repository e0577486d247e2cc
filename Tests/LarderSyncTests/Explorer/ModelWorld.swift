import Larder

@testable import LarderSync

/// Devices, a service, and the network between them: all that a history can lead to.
struct ModelWorld: Sendable {
    let rules: ModelRules
    let planner: PlannerUnderTest
    var devices: [ModelDevice]
    var service = ModelService()
    /// Requests that reach the service when their devices have given up.
    var late: [ModelRequest] = []
    var faults: Int
    var crashes: Int
    var logouts: Int
    var editions: Int
    var judge = Judge()
    /// The number of writes that users have made.
    var time: Int64 = 0

    init(_ rules: ModelRules, _ planner: PlannerUnderTest? = nil) {
        self.rules = rules
        self.planner = planner ?? PlannerUnderTest(rules.planner())
        (faults, crashes, logouts) = (rules.mostFaults, rules.mostCrashes, rules.mostLogouts)
        editions = rules.raisesEdition ? 1 : 0
        devices = rules.scripts.map { _ in ModelDevice() }
        for number in 0..<rules.initial {
            service.clock += 1
            let id = rules.ids == .client ? "r\(number)" : "s\(number + 1)"
            service.named = number + 1
            var text = Self.content(number).setting(["id"], to: JSONText(string: id))
            text = text.setting(["at"], to: JSONText(.int(service.clock)))
            if rules.hasVersions { text = text.setting(["rev"], to: JSONText(.int(service.clock))) }
            if rules.hasStamps { text = text.setting(["t"], to: JSONText(.int(1))) }
            service.put(ModelService.Record(id: id, text: text, at: service.clock))
            for device in devices.indices {
                var row = RecordRow(number: Int64(number + 1), id: id, idText: JSONText(string: id), base: text)
                row.version = self.planner.planner.version(of: text)
                row.generation = 1
                devices[device].rows.append(row)
            }
        }
        for device in devices.indices {
            devices[device].pull.source = "s"
            devices[device].pull.generation = 1
            devices[device].pull.position = rules.pull == .all ? nil : "\(service.clock)"
        }
    }

    static func content(_ number: Int) -> JSONText {
        JSONText(object: [
            ("slot", JSONText(.int(number))), ("x", JSONText(string: "x")), ("y", JSONText(string: "y")),
            ("tags", JSONText(list: [JSONText(string: "a")])),
        ])
    }

    func moment(_ device: Int, _ keys: ModelKeys) -> SyncMoment {
        SyncMoment(
            now: 1_700_000_000_000 + rules.clocks[device] + time * 1_000, sequence: devices[device].sequence,
            newKey: { keys.next() })
    }

    /// Runs a transaction of a device: changes by the planner, and what follows from them.
    ///
    /// - Parameter record: the record that is changed, if it is a single one.
    mutating func transact(
        _ device: Int, record: Int64 = 0,
        _ body: (inout ModelWorld, inout SyncMoment, inout SyncEffects) throws(Violation) -> Void
    ) throws(Violation) -> SyncEffects {
        let keys = ModelKeys(device: device, made: devices[device].keys)
        var (moment, effects) = (moment(device, keys), SyncEffects())
        try body(&self, &moment, &effects)
        var known = 0
        var gone: Set<String> = []
        repeat {
            while known < effects.renamed.count {
                rename(effects.renamed[known], of: record, device, &moment, &effects)
                known += 1
            }
            let new = effects.gone.subtracting(gone)
            gone.formUnion(new)
            if new.isEmpty { break }
            if planner.callerMistakes.contains(.dependentsOfRejectedCreateStay) { continue }
            for place in devices[device].rows.indices {
                planner.planner.giveUpNeeding(new, in: &devices[device].rows[place], at: &moment, &effects)
            }
        } while true
        devices[device].rows.removeAll(where: \.isGone)
        devices[device].sequence = moment.sequence
        devices[device].keys = keys.made
        return effects
    }

    private mutating func rename(
        _ renaming: SyncEffects.Renaming, of record: Int64, _ device: Int, _ moment: inout SyncMoment,
        _ effects: inout SyncEffects
    ) {
        devices[device].names.append(ModelDevice.Name(former: renaming.former, record: record))
        // A pull may have brought the record before.
        let pulled = devices[device].rows.first { $0.id == renaming.id.name && $0.number != record }
        if let pulled, let place = devices[device].place(record) {
            planner.absorb(pulled, &devices[device].rows[place], &moment, &effects)
            devices[device].rows.removeAll { $0.number == pulled.number }
            judge.move(pulled.number, to: record, device)
        }
        if planner.callerMistakes.contains(.namesStayInOtherRecords) { return }
        for place in devices[device].rows.indices { planner.rename(renaming, &devices[device].rows[place]) }
    }

    /// Returns whether nothing is on its way, and no user has anything more to do.
    var isQuiet: Bool {
        late.isEmpty
            && devices.indices.allSatisfy {
                devices[$0].calls.isEmpty && devices[$0].page == nil
                    && devices[$0].step == rules.scripts[$0].count && devices[$0].isSignedIn
            }
    }

    // MARK: Identity

    /// A number that is the same for worlds in which the same can happen.
    var digest: UInt64 {
        var devices = devices.map(\.normalized)
        var (late, answers, judge) = (late, service.answers, judge)
        // Keys have no meaning, so they are numbered anew.
        var keys: [String: String] = [:]
        func renamed(_ key: String) -> String {
            if let known = keys[key] { return known }
            keys[key] = "\(keys.count)"
            return "\(keys.count - 1)"
        }
        for device in devices.indices {
            for row in devices[device].rows.indices {
                for write in devices[device].rows[row].writes.indices {
                    devices[device].rows[row].writes[write].key = renamed(devices[device].rows[row].writes[write].key)
                }
            }
            for call in devices[device].calls.indices {
                devices[device].calls[call].request.key = renamed(devices[device].calls[call].request.key)
            }
            devices[device].keys = 0
        }
        for place in late.indices { late[place].key = renamed(late[place].key) }
        answers = answers.compactMap { answer in
            keys[answer.key].map { ModelService.Answer(key: $0, outcome: answer.outcome) }
        }
        judge.forgetKeys { keys[$0] }
        var hasher = Hasher()
        hasher.combine(devices)
        hasher.combine(service.records)
        hasher.combine(service.named)
        hasher.combine(Set(service.changes))
        hasher.combine(Set(answers))
        hasher.combine(Set(late))
        hasher.combine(judge)
        hasher.combine([faults, crashes, logouts, editions])
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

/// A promise that was broken.
struct Violation: Error, CustomStringConvertible {
    var invariant: String
    var text: String

    init(_ invariant: String, _ text: String) { (self.invariant, self.text) = (invariant, text) }

    var description: String { "\(invariant): \(text)" }
}
