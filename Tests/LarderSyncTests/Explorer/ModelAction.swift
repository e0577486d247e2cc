import Larder

@testable import LarderSync

/// Something that can happen next.
enum ModelAction: Hashable, Sendable {
    /// The user of a device makes the next change.
    case write(Int)
    /// A device sends the next write of a record.
    case send(Int, Int64)
    /// The service gets a request, or a fault happens to it.
    case deliver(Int, Int64, ModelFault?)
    /// A device gets an answer, or a fault happens to it.
    case settle(Int, Int64, isLost: Bool)
    case lookUp(Int, Int64)
    /// A device asks for the next page.
    case ask(Int, ModelFault?)
    /// A device gets a page, or does not.
    case page(Int, isLost: Bool)
    /// A device ends and starts again. Requests that have left it may arrive.
    case crash(Int, arrives: Bool)
    /// The app decides about a conflict: for the user's side, or for the service's.
    case resolve(Int, Int64, isMine: Bool)
    /// The service gets a request whose device has given up.
    case arrive(Int)
    case signOut(Int)
    case signIn(Int)
    /// The policy of a device is raised to another edition.
    case raiseEdition(Int)
}

extension ModelWorld {
    /// Returns all that can happen next, in a fixed order.
    func actions() -> [ModelAction] {
        var actions: [ModelAction] = []
        for (number, device) in devices.enumerated() {
            if !device.isSignedIn {
                actions.append(.signIn(number))
                continue
            }
            if device.step < rules.scripts[number].count { actions.append(.write(number)) }
            actions += calls(of: device, number)
            if device.page != nil {
                actions.append(.page(number, isLost: false))
                if faults > 0, rules.faults.contains(.loseAnswer) { actions.append(.page(number, isLost: true)) }
            } else {
                actions += rest(of: device, number)
            }
            if crashes > 0, isWorthACrash(device) {
                actions.append(.crash(number, arrives: false))
                if device.calls.contains(where: { $0.outcome == nil }) {
                    actions.append(.crash(number, arrives: true))
                }
            }
            if logouts > 0 { actions.append(.signOut(number)) }
            if editions > 0 { actions.append(.raiseEdition(number)) }
        }
        return actions + late.indices.map(ModelAction.arrive)
    }

    private func isWorthACrash(_ device: ModelDevice) -> Bool {
        !device.calls.isEmpty || device.page != nil || device.pull.run != nil
    }

    private func calls(of device: ModelDevice, _ number: Int) -> [ModelAction] {
        device.calls.flatMap { call -> [ModelAction] in
            let record = call.request.record
            if call.outcome != nil {
                let canBeLost = faults > 0 && rules.faults.contains(.loseAnswer)
                return [.settle(number, record, isLost: false)]
                    + (canBeLost ? [.settle(number, record, isLost: true)] : [])
            }
            let possible: [ModelFault] = [.loseRequest, .double, .delay, .later, .signedOut]
            let chosen = faults > 0 ? possible.filter(rules.faults.contains) : []
            return [.deliver(number, record, nil)] + chosen.map { .deliver(number, record, $0) }
        }
    }

    /// The actions of a device while it waits for no page.
    private func rest(of device: ModelDevice, _ number: Int) -> [ModelAction] {
        var actions: [ModelAction] = []
        for row in device.rows {
            switch planner.nextStep(row, device.rows, .max / 4) {
            case .send: actions.append(.send(number, row.number))
            case .lookUp: actions.append(.lookUp(number, row.number))
            case .ask:
                actions += [.resolve(number, row.number, isMine: true), .resolve(number, row.number, isMine: false)]
            case .rest, .wait, .sending, .needs, .otherSource: break
            }
        }
        if device.calls.isEmpty {
            actions.append(.ask(number, nil))
            if faults > 0 {
                let faults: [ModelFault] = [.emptyPage, .sameCursor]
                actions += faults.filter(rules.faults.contains).map { .ask(number, $0) }
            }
        }
        return actions
    }
}
