import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem

/// The services, and the network between them and the devices. It loses, doubles, delays and refuses calls.
final class WorldNetwork: Sendable {
    struct State {
        var services: [String: WorldService] = ["here": WorldService(), "there": WorldService()]
        /// An earlier state of the service, to which it may go back.
        var backup: WorldService?
        /// Changes that the service has forgotten with its history.
        var forgotten: [WorldService.Applied] = []
        /// The devices without a network.
        var offline: Set<Int> = []
        var isWhole = false
        var random: SeededGenerator
        var history: [String] = []
        /// The number of points at which a process could have ended, and of the one at which it does.
        var points = 0
        var crash: Int?
    }

    let base: SimulatedWorld
    let rules: WorldRules
    let state: Locked<State>

    init(_ base: SimulatedWorld, _ rules: WorldRules, seed: UInt64, crash: Int?) {
        (self.base, self.rules) = (base, rules)
        state = Locked(State(random: SeededGenerator(seed: seed, stream: "network"), crash: crash))
    }

    func note(_ line: String) { state.withLock { $0.history.append("\(base.uptime) \(line)") } }

    /// A point at which a process may end.
    func point(_ name: String, of process: SimulatedProcess, _ device: Int) {
        let isLast = state.withLock { state in
            if process.hasEnded { return false }
            state.points += 1
            return state.points == state.crash
        }
        if isLast {
            note("device \(device) ends: \(name)")
            process.end()
        }
    }

    private enum Trouble: CaseIterable {
        case losesCall, losesAnswer, doubles, refuses, signsOut, limits, fails, garbles
    }

    private func draw() -> (trouble: Trouble?, there: Duration, back: Duration, isSentByDying: Bool) {
        state.withLock { state in
            let isTrouble = !state.isWhole && state.random.roll(100) < rules.troubles
            let troubles = Trouble.allCases
            let trouble = isTrouble ? troubles[state.random.roll(troubles.count)] : nil
            let slow = state.isWhole ? 50 : state.random.roll(4) == 0 ? 30_000 : 500
            return (
                trouble, .milliseconds(1 + state.random.roll(slow)), .milliseconds(1 + state.random.roll(slow)),
                state.random.roll(2) == 0
            )
        }
    }

    private func checkNetwork(of device: Int) throws {
        if state.withLock({ $0.offline.contains(device) }) { throw LoadError(.failed, "the network is gone") }
    }

    /// Brings a call to a service, and its answer back.
    func call(_ call: Call, to source: String, by process: SimulatedProcess, _ device: Int) async throws -> Data {
        try process.check()
        try checkNetwork(of: device)
        let (trouble, there, back, isSentByDying) = draw()
        let name = [
            "\(device) \(call.method ?? "GET")",
            call.request.parameters.dictionary.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(
                separator: "&"),
        ].joined(separator: " ")
        note("\(name) leaves\(trouble.map { ", \($0)" } ?? "")")
        point("a call leaves", of: process, device)
        if process.hasEnded, !isSentByDying { throw SimulatedProcess.Ended() }
        try? await base.sleep(for: there)
        switch trouble {
        case .losesCall:
            try await base.sleep(for: .seconds(5))
            throw LoadError(.timeout, "no answer")
        case .refuses: throw LoadError(.failed, "refused")
        case .signsOut: throw LoadError.status(401)
        case .limits: throw LoadError.status(429, retryAfter: .seconds(20))
        case .fails: throw LoadError.status(503)
        case .losesAnswer, .doubles, .garbles, nil: break
        }
        let answer = Result { try self.answer(call, from: source, to: device) }
        note("\(name) arrives: \((try? answer.get()).map { String(decoding: $0, as: UTF8.self) } ?? "refused")")
        if case .doubles = trouble {
            base.spawn { [self] in
                try? await base.sleep(for: there * 3 + .seconds(20))
                note("\(name) arrives again")
                _ = try? self.answer(call, from: source, to: device)
            }
        }
        try? await base.sleep(for: back)
        if process.hasEnded { throw SimulatedProcess.Ended() }
        try checkNetwork(of: device)
        switch trouble {
        case .losesAnswer:
            try await base.sleep(for: .seconds(5))
            throw LoadError(.timeout, "no answer")
        case .garbles: return Data("<html>Welcome</html>".utf8)
        default: break
        }
        point("an answer arrives", of: process, device)
        try process.check()
        return try answer.get()
    }

    private func answer(_ call: Call, from source: String, to device: Int) throws -> Data {
        try state.withLock { state in
            var service = state.services[source] ?? WorldService()
            defer { state.services[source] = service }
            let request = call.request
            guard let method = call.method else {
                if let id = request.parameters["id"] {
                    guard let record = service.records[id] else { throw LoadError.status(404) }
                    return Data(record.bytes)
                }
                return Data(try service.page(request.parameters, rules).utf8)
            }
            let body = request.body.flatMap { try? JSONText($0) } ?? .object
            if request.parameters["batch"] != nil {
                let results = (body["operations"]?.items ?? []).map { operation in
                    let kind = operation["op"]?.string ?? ""
                    let change = WorldService.Change(
                        device: device, kind: kind, id: operation["id"]?.name,
                        key: operation["key"]?.string ?? "", version: operation["version"]?.name,
                        body: operation[kind == "create" ? "record" : "set"] ?? .object)
                    let answer = service.change(change, rules)
                    let record = answer.record.map { [("record", $0)] } ?? []
                    return JSONText(
                        object: [("key", JSONText(string: change.key)), ("code", JSONText(.int(answer.status)))]
                            + record)
                }
                return Data(JSONText(object: [("results", JSONText(list: results))]).bytes)
            }
            let change = WorldService.Change(
                device: device, kind: ["POST": "create", "PATCH": "update", "DELETE": "delete"][method] ?? "",
                id: request.parameters["id"] ?? (method == "POST" ? body["id"]?.name : nil),
                key: request.fields["Idempotency-Key"] ?? "", version: request.fields["If-Match"],
                body: method == "DELETE" ? .object : body)
            let answer = service.change(change, rules)
            let data = Data(JSONText(object: answer.record.map { [("record", $0)] } ?? []).bytes)
            if answer.status == 200 { return data }
            throw LoadError.status(
                answer.status,
                reply: Reply(status: answer.status, body: rules.conflictsTellRecord ? data : Data("{}".utf8)))
        }
    }
}

/// The way of one process to a service.
struct WorldOrigin: Loader {
    let network: WorldNetwork
    let process: SimulatedProcess
    let device: Int
    let source: String

    func load(_ call: Call) async throws -> Loaded<Entry> {
        Loaded(Entry(try await network.call(call, to: source, by: process, device)), from: .origin)
    }
}
