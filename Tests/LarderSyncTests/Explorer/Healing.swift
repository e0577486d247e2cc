import Larder

@testable import LarderSync

extension ModelWorld {
    /// Lets the network heal and all devices synchronise several times, and judges what is left.
    ///
    /// - Parameter step: is called with each step.
    func judgeRest(_ step: (ModelAction) -> Void = { _ in }) throws(Violation) {
        var world = self
        func perform(_ action: ModelAction) throws(Violation) {
            step(action)
            try world.perform(action)
        }
        world.faults = 0
        world.crashes = 0
        for device in world.devices.indices where !world.devices[device].isSignedIn {
            try perform(.signIn(device))
        }
        while !world.late.isEmpty { try perform(.arrive(0)) }
        for _ in 0..<3 {
            for device in world.devices.indices { try world.synchronize(device, step) }
        }
        for device in world.devices.indices { try world.judgeRest(of: device) }
    }

    private mutating func synchronize(_ device: Int, _ step: (ModelAction) -> Void) throws(Violation) {
        func perform(_ action: ModelAction, _ world: inout ModelWorld) throws(Violation) {
            step(action)
            try world.perform(action)
        }
        if devices[device].page != nil { try perform(.page(device, isLost: false), &self) }
        for _ in 0..<100 {
            var next: ModelAction?
            for action in actions() where action.device == device && next == nil {
                switch action {
                case .send, .deliver(_, _, nil), .settle(_, _, isLost: false), .lookUp, .resolve(_, _, isMine: true):
                    next = action
                default: break
                }
            }
            guard let action = next else { break }
            try perform(action, &self)
        }
        for _ in 0..<40 {
            try perform(.ask(device, nil), &self)
            try perform(.page(device, isLost: false), &self)
            if devices[device].pull.run == nil { return }
        }
        throw Violation("I16", "a pull does not end")
    }

    private func judgeRest(of device: Int) throws(Violation) {
        let name = "device \(device)"
        if let write = judge.pending.first(where: { $0.device == device }) {
            let row = devices[device].rows.first { $0.number == write.record }
            let step = row.map { planner.nextStep($0, devices[device].rows, .max / 4) }
            throw Violation("I10", "\(name): write \(write.write) is left at rest: \(step.map { "\($0)" } ?? "no row")")
        }
        var left = service.live
        for row in devices[device].rows {
            guard let shown = planner.planner.shown(row) else {
                throw Violation("I10", "\(name): \(row.id) is neither shown nor gone at rest")
            }
            let place = left.firstIndex { $0.id == row.id }
            if row.rejected != nil {
                if let place { left.remove(at: place) }
                continue
            }
            guard let place else { throw Violation("I10", "\(name) shows \(row.id), which the service does not have") }
            if left[place].text?.means(shown) != true {
                throw Violation("I10", "\(name) shows another \(row.id) than the service has")
            }
            left.remove(at: place)
        }
        if let record = left.first { throw Violation("I10", "\(name) does not show \(record.id)") }
    }
}
