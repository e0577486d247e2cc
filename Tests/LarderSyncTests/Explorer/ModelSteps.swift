import Larder

@testable import LarderSync

extension ModelWorld {
    /// Does one step, and has it judged.
    mutating func perform(_ action: ModelAction) throws(Violation) {
        let before = devices
        var effects = SyncEffects()
        switch action {
        case .write(let device): effects = try write(device)
        case .send(let device, let record): effects = try send(device, record)
        case .deliver(let device, let record, let fault): effects = try deliver(device, record, fault)
        case .settle(let device, let record, let isLost): effects = try settle(device, record, isLost: isLost)
        case .lookUp(let device, let record): effects = try lookUp(device, record)
        case .ask(let device, let fault): try ask(device, fault)
        case .page(let device, let isLost): effects = try page(device, isLost: isLost)
        case .crash(let device, let arrives): crash(device, arrives: arrives)
        case .resolve(let device, let record, let isMine):
            effects = try transact(device, record: record) { (world, moment, effects) throws(Violation) in
                guard let place = world.devices[device].place(record) else { return }
                let planner = world.planner.planner
                let mine = planner.shown(world.devices[device].rows[place])
                let decision = isMine ? mine.map { .record($0) } ?? .deletion : SyncPlanner.Decision.theirs
                _ = planner.resolve(&world.devices[device].rows[place], by: decision, at: &moment, &effects)
            }
            judge.forgetExpectations(of: record, device)
        case .arrive(let place):
            _ = service.answer(late[place], rules)
            try judgeOnce(late.remove(at: place))
        case .signOut(let device): signOut(device)
        case .signIn(let device): devices[device].isSignedIn = true
        case .raiseEdition(let device):
            editions -= 1
            devices[device].edition += 1
            if planner.callerMistakes.contains(.editionDeletesWrites) {
                for place in devices[device].rows.indices { devices[device].rows[place].writes = [] }
            }
        }
        try judge(action, before, effects)
    }

    // MARK: The user

    private mutating func write(_ device: Int) throws(Violation) -> SyncEffects {
        let step = rules.scripts[device][devices[device].step]
        devices[device].step += 1
        time += 1
        let number = Int64(devices[device].step)
        if case .undo(let record) = step { return try undo(record, device) }
        guard let (intent, row) = intent(step, device) else { return SyncEffects() }
        var target = row
        let effects = try transact(device, record: row.number) { (world, moment, effects) throws(Violation) in
            guard (try? world.planner.write(intent, &target, number, &moment, &effects)) == true else { return }
            if effects.books.made > 0 { try world.judge.made(number, step, target, device, world.rules) }
            world.devices[device].put(target)
            let planner = world.planner.planner
            for id in target.writes.reduce(into: Set<String>(), { $0.formUnion(planner.references(of: $1)) }) {
                if let place = world.devices[device].place(of: id),
                    !TemporaryID.isOne(world.devices[device].rows[place].id)
                {
                    let renaming = SyncEffects.Renaming(former: id, id: world.devices[device].rows[place].idText)
                    if let place = world.devices[device].place(target.number) {
                        world.planner.rename(renaming, &world.devices[device].rows[place])
                    }
                } else if !world.devices[device].rows.contains(where: {
                    $0.id == id && $0.writes.contains { $0.kind == .create }
                }) {
                    effects.gone.insert(id)
                }
            }
        }
        return effects
    }

    private mutating func undo(_ record: Int, _ device: Int) throws(Violation) -> SyncEffects {
        guard let row = row(record, device), let last = row.writes.last else { return SyncEffects() }
        let effects = try transact(device, record: row.number) { (world, moment, effects) throws(Violation) in
            guard let place = world.devices[device].place(row.number) else { return }
            _ = world.planner.planner.undo(last.number, of: &world.devices[device].rows[place], at: &moment, &effects)
        }
        if effects.books.discarded > 0 { judge.forgetExpectations(of: row.number, device) }
        return effects
    }

    /// Returns the row of a record, as the app finds it: by the id that it knows, or by what is shown.
    private func row(_ record: Int, _ device: Int) -> RecordRow? {
        let device = devices[device]
        if let id = device.created[record], let place = device.place(of: id) { return device.rows[place] }
        return device.rows.first { planner.planner.shown($0)?["slot"]?.integer == Int64(record) }
    }

    private mutating func intent(_ step: ModelWrite, _ device: Int) -> (RecordIntent, RecordRow)? {
        let value = JSONText(string: "w\(device)\(devices[device].step)")
        let record = step.record
        let number = (devices[device].rows.map(\.number).max() ?? 0) + 1
        if case .create = step { return create(record, value, nil, number, device) }
        if case .createBad = step { return create(record, JSONText(string: "bad"), nil, number, device) }
        if case .createReferring(_, let other) = step {
            guard let id = id(of: other, device) else { return nil }
            return create(record, value, id, number, device)
        }
        guard let row = row(record, device), let shown = planner.planner.shown(row) else { return nil }
        var tags = shown["tags"]?.items ?? []
        switch step {
        case .set(_, let field): return (.update(from: shown, to: shown.setting([field], to: value)), row)
        case .setBad: return (.update(from: shown, to: shown.setting(["x"], to: JSONText(string: "bad"))), row)
        case .refer(_, let other):
            guard let id = id(of: other, device) else { return nil }
            return (.update(from: shown, to: shown.setting(["ref"], to: id)), row)
        case .put: return (.put(shown.setting(["x"], to: value).setting(["y"], to: nil)), row)
        case .add(_, let tag): tags.append(JSONText(string: tag))
        case .remove(_, let tag): tags.removeAll { $0.string == tag }
        default: return (.delete, row)
        }
        return (.update(from: shown, to: shown.setting(["tags"], to: JSONText(list: tags))), row)
    }

    private mutating func create(
        _ record: Int, _ value: JSONText, _ reference: JSONText?, _ number: Int64, _ device: Int
    ) -> (RecordIntent, RecordRow)? {
        var seed = UInt64(device * 100 + devices[device].step)
        let id =
            rules.ids == .client
            ? "r\(record)"
            : TemporaryID.make {
                seed &*= 0x9E37_79B9; return seed
            }
        let text = JSONText(string: id)
        var content = Self.content(record).setting(["x"], to: value)
        if rules.ids == .client { content = content.setting(["id"], to: text) }
        if let reference { content = content.setting(["ref"], to: reference) }
        devices[device].created[record] = id
        let present = devices[device].place(of: id).map { devices[device].rows[$0] }
        return (.create(content), present ?? RecordRow(number: number, id: id, idText: text))
    }

    private func id(of record: Int, _ device: Int) -> JSONText? {
        devices[device].created[record].map { JSONText(string: $0) } ?? row(record, device)?.idText
    }

    // MARK: Push

    private mutating func send(_ device: Int, _ record: Int64) throws(Violation) -> SyncEffects {
        guard let place = devices[device].place(record),
            case .send(let number) = planner.nextStep(devices[device].rows[place], devices[device].rows, .max / 4),
            let write = devices[device].rows[place].writes.firstIndex(where: { $0.number == number })
        else { return SyncEffects() }
        var effects = SyncEffects()
        let version = devices[device].rows[place].version
        planner.claim(&devices[device].rows[place].writes[write], version, &effects)
        let row = devices[device].rows[place]
        let claimed = row.writes[write]
        let sent = claimed.sentVersion.flatMap { $0.kind == .null ? nil : $0 }
        let request = ModelRequest(
            device: device, record: record, write: claimed.number, kind: claimed.kind, id: row.id,
            changes: claimed.patch.changes, version: claimed.kind == .create ? nil : sent, key: claimed.key)
        try judge.sent(request, of: row, rules)
        devices[device].calls.append(ModelDevice.Call(request: request))
        return effects
    }

    private mutating func deliver(_ device: Int, _ record: Int64, _ fault: ModelFault?) throws(Violation) -> SyncEffects
    {
        guard let place = devices[device].calls.firstIndex(where: { $0.request.record == record }) else {
            return SyncEffects()
        }
        let request = devices[device].calls[place].request
        if fault != nil { faults -= 1 }
        switch fault {
        case .loseRequest: return try outcome(.unknown, request, device)
        case .delay:
            late.append(request)
            return try outcome(.unknown, request, device)
        case .later: devices[device].calls[place].outcome = .later(5_000)
        case .signedOut: devices[device].calls[place].outcome = .signedOut
        default:
            devices[device].calls[place].outcome = service.answer(request, rules)
            try judgeOnce(request)
            if fault == .double { late.append(request) }
        }
        return SyncEffects()
    }

    private mutating func settle(_ device: Int, _ record: Int64, isLost: Bool) throws(Violation) -> SyncEffects {
        guard let call = devices[device].calls.first(where: { $0.request.record == record }),
            let outcome = call.outcome
        else { return SyncEffects() }
        if isLost { faults -= 1 }
        return try self.outcome(isLost ? .unknown : outcome, call.request, device)
    }

    private mutating func outcome(
        _ outcome: WriteOutcome, _ request: ModelRequest, _ device: Int
    ) throws(Violation) -> SyncEffects {
        devices[device].calls.removeAll { $0.request.record == request.record }
        switch outcome {
        case .conflict, .conflictWithDeletion, .conflictWithoutRecord:
            judge.refused.insert(Judge.Pending(device: device, write: request.write, record: request.record))
        default: break
        }
        return try transact(device, record: request.record) { (world, moment, effects) throws(Violation) in
            guard let place = world.devices[device].place(request.record) else { return }
            world.planner.settle(outcome, request.write, &world.devices[device].rows[place], &moment, &effects)
        }
    }

    private mutating func lookUp(_ device: Int, _ record: Int64) throws(Violation) -> SyncEffects {
        guard let place = devices[device].place(record), let write = devices[device].rows[place].first else {
            return SyncEffects()
        }
        let id = devices[device].rows[place].id
        if id.hasPrefix("tmp-") { throw Violation("I7", "a temporary id is looked up") }
        let found = service.record(id)?.text
        return try transact(device, record: record) { (world, moment, effects) throws(Violation) in
            world.planner.found(found, write.number, &world.devices[device].rows[place], &moment, &effects)
        }
    }

    // MARK: Ends

    private mutating func crash(_ device: Int, arrives: Bool) {
        crashes -= 1
        if arrives { late += devices[device].calls.filter { $0.outcome == nil }.map(\.request) }
        if planner.callerMistakes.contains(.positionIsKeptBeforeRows), let page = devices[device].page {
            planner.turn(page, &devices[device].pull, 0)
            let keys = ModelKeys(device: device, made: devices[device].keys)
            var (moment, effects) = (moment(device, keys), SyncEffects())
            if page.isLast { planner.endPull(&devices[device].pull, .nothing, &moment, &effects) }
        }
        stop(device)
    }

    private mutating func stop(_ device: Int) {
        (devices[device].calls, devices[device].page) = ([], nil)
        for row in devices[device].rows.indices {
            for write in devices[device].rows[row].writes.indices {
                let isSending = devices[device].rows[row].writes[write].status == .sending
                planner.reopen(&devices[device].rows[row].writes[write])
                if isSending, planner.callerMistakes.contains(.claimIsNotDurable) {
                    devices[device].rows[row].writes[write].status = .open
                    devices[device].rows[row].writes[write].wasSent = false
                    devices[device].rows[row].writes[write].tries -= 1
                }
            }
        }
    }

    private mutating func signOut(_ device: Int) {
        logouts -= 1
        stop(device)
        for row in devices[device].rows.indices {
            planner.planner.forgetBase(&devices[device].rows[row])
            if planner.callerMistakes.contains(.logoutDeletesWrites) { devices[device].rows[row].writes = [] }
        }
        devices[device].rows.removeAll(where: \.isGone)
        (devices[device].pull, devices[device].isSignedIn) = (PullState(), false)
        judge.signedOut(device)
    }
}
