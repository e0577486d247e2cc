import Larder

@testable import LarderSync

extension ModelWorld {
    mutating func ask(_ device: Int, _ fault: ModelFault?) throws(Violation) {
        let keys = ModelKeys(device: device, made: devices[device].keys)
        var moment = moment(device, keys)
        planner.beginPull(&devices[device].pull, devices[device].edition, &moment)
        devices[device].sequence = moment.sequence
        guard let run = devices[device].pull.run else { return }
        var shown = service
        if rules.pagesAreOfOneTime {
            if run.pages == 0 { devices[device].snapshot = service.records }
            shown.records = devices[device].snapshot
        }
        var page = shown.page(from: run.isFull ? nil : devices[device].pull.position, cursor: run.cursor, rules)
        if fault == .emptyPage { faults -= 1 }
        if fault == .emptyPage { page = PulledPage(records: [], position: page.position) }
        if fault == .sameCursor { page.next = run.cursor ?? "c0" }
        devices[device].page = page
    }

    mutating func page(_ device: Int, isLost: Bool) throws(Violation) -> SyncEffects {
        guard let page = devices[device].page else { return SyncEffects() }
        devices[device].page = nil
        if isLost {
            faults -= 1
            return SyncEffects()
        }
        do throws(PullRefusal) {
            try planner.check(page, devices[device].pull)
        } catch {
            devices[device].pull.run = nil
            return SyncEffects()
        }
        return try transact(device) { (world, moment, effects) throws(Violation) in
            var state = world.devices[device].pull
            let planner = world.planner
            for pulled in page.records {
                let present = world.devices[device].rows.first { $0.id == pulled.id }
                let number = (world.devices[device].rows.map(\.number).max() ?? 0) + 1
                var row = present ?? RecordRow(number: number, id: pulled.id, idText: pulled.idText)
                planner.merge(pulled, &row, state, &moment, &effects)
                world.devices[device].put(row)
            }
            for id in page.deleted {
                guard var row = world.devices[device].rows.first(where: { $0.id == id }) else { continue }
                planner.mergeDeletion(&row, state, &moment, &effects)
                world.devices[device].put(row)
            }
            planner.turn(page, &state, effects.staleRows)
            if page.isLast {
                try world.end(&state, device, &moment, &effects)
                world.devices[device].snapshot = []
            }
            world.devices[device].pull = state
        }
    }

    private mutating func end(
        _ state: inout PullState, _ device: Int, _ moment: inout SyncMoment, _ effects: inout SyncEffects
    ) throws(Violation) {
        for row in devices[device].rows.indices { planner.fold(&devices[device].rows[row], state) }
        devices[device].rows.removeAll(where: \.isGone)
        let rows = devices[device].rows
        let missing = rows.filter { planner.planner.isSwept($0, before: state.generation, state) }.count
        let twice = rows.filter { planner.planner.isSwept($0, before: state.suspected ?? 0, state) }.count
        let all = rows.filter { $0.base != nil }.count
        let sweep = planner.sweep(state, missing, twice, all)
        if case .delete(let generation) = sweep {
            let swept = rows.filter { planner.planner.isSwept($0, before: generation, state) }
            if all >= 20, swept.count * 2 > all, state.suspected == nil {
                throw Violation("I12", "one answer deletes \(swept.count) of \(all) records")
            }
            for var row in swept {
                planner.mergeDeletion(&row, state, &moment, &effects)
                devices[device].put(row)
            }
        }
        planner.endPull(&state, sweep, &moment, &effects)
    }
}
