import Larder
import LarderFoundation
import LarderSystem

@testable import LarderSync

/// A service of notes that names them, knows keys, and refuses a change that was made on another version.
final class RestService: Sendable {
    struct Call: Equatable {
        var method: String
        var id: String?
        var key: String?
        var body: String
    }

    struct State {
        var notes: [String: (text: JSONText, version: Int)] = [:]
        var answers: [String: String] = [:]
        var calls: [Call] = []
        /// How often each key was applied.
        var applied: [String: Int] = [:]
        var last = 0
        /// The troubles of the next calls, the first one first.
        var troubles: [Trouble] = []
        /// Whether the list of all notes cannot be fetched.
        var hasNoList = false
        /// The errors of the next calls.
        var errors: [LoadError] = []
        /// The title of notes whose changes always fail.
        var failing: String?
        /// The time that a change takes.
        var delay = Duration.zero
    }

    /// The troubles that a call may have.
    enum Trouble {
        case status(Int)
        /// The change is made, and the answer is lost.
        case lostAnswer
        /// The call never arrives.
        case lostCall
        /// A page of a hotel.
        case loginPage
    }

    let state = Locked(State())

    var calls: [Call] { state.withLock { $0.calls } }

    func fail(_ troubles: Trouble...) { state.withLock { $0.troubles += troubles } }

    /// Changes a note as another device does.
    func set(_ id: String, _ text: String) throws {
        let text = try JSONText(text.utf8)
        state.withLock { state in
            let version = (state.notes[id]?.version ?? 0) + 1
            state.notes[id] = (text.setting(["v"], to: JSONText(.int(version))), version)
        }
    }

    func remove(_ id: String) { state.withLock { $0.notes[id] = nil } }

    func note(_ id: String) -> JSONText? { state.withLock { $0.notes[id]?.text } }

    /// Answers a lookup: of one note, or of all.
    func answer(_ request: Request) throws -> String {
        try state.withLock { state in
            if let id = request.parameters["id"] {
                guard let note = state.notes[id] else { throw LoadError.status(404) }
                return note.text.shownText
            }
            if state.hasNoList { throw LoadError.status(503) }
            let all = state.notes.sorted { $0.key < $1.key }.map(\.value.text)
            return JSONText(list: all).shownText
        }
    }

    /// Answers a change.
    func change(_ method: String, _ request: Request) throws -> String {
        try state.withLock { state in
            let id = request.parameters["id"]
            let key = request.fields["Idempotency-Key"]
            let body = String(decoding: request.body ?? Data(), as: UTF8.self)
            state.calls.append(Call(method: method, id: id, key: key, body: body))
            if !state.errors.isEmpty { throw state.errors.removeFirst() }
            if let failing = state.failing, body.contains(failing) { throw LoadError.status(500) }
            let trouble = state.troubles.isEmpty ? nil : state.troubles.removeFirst()
            switch trouble {
            case .status(let status): throw LoadError.status(status)
            case .lostCall: throw LoadError(.failed, "the network is gone")
            case .loginPage: return "<html>Welcome</html>"
            case .lostAnswer, nil: break
            }
            let answer = try apply(method, id, key, body, request, &state)
            if case .lostAnswer = trouble { throw LoadError(.timeout, "no answer") }
            return answer
        }
    }

    private func apply(
        _ method: String, _ id: String?, _ key: String?, _ body: String, _ request: Request, _ state: inout State
    ) throws -> String {
        if let key, let known = state.answers[key] { return known }
        var answer = ""
        switch method {
        case "POST":
            state.last += 1
            let text = try JSONText(body.utf8)
            let name = text["id"]?.name ?? "s\(state.last)"
            let note = text.setting([(["id"], JSONText(string: name)), (["v"], JSONText(.int(1)))])
            state.notes[name] = (note, 1)
            answer = note.shownText
        case "PATCH":
            guard let id, let known = state.notes[id] else { throw LoadError.status(404) }
            try Self.check(request, at: known.version, of: known.text)
            let changes = try JSONText(body.utf8).members.map { ([$0.name], $0.value.kind == .null ? nil : $0.value) }
            let text = known.text.setting(changes + [(["v"], JSONText(.int(known.version + 1)))])
            state.notes[id] = (text, known.version + 1)
            answer = text.shownText
        case "DELETE":
            guard let id, let known = state.notes[id] else { throw LoadError.status(404) }
            try Self.check(request, at: known.version, of: known.text)
            state.notes[id] = nil
        default: throw LoadError.status(405)
        }
        if let key {
            state.answers[key] = answer
            state.applied[key, default: 0] += 1
        }
        return answer
    }

    private static func check(_ request: Request, at version: Int, of note: JSONText) throws {
        guard let expected = request.fields["If-Match"], expected != String(version) else { return }
        throw LoadError.status(412, reply: Reply(status: 412, body: Data(note.bytes)))
    }
}

extension RecordsApp {
    /// Reaches a service, which takes its time to answer changes.
    func use(_ service: RestService) {
        self.service.withLock { $0 = { try service.answer($0) } }
        changes.withLock {
            $0 = { [world] method, request in
                let answer = Result { try service.change(method, request) }
                try await world.sleep(for: service.state.withLock { $0.delay })
                return try answer.get()
            }
        }
    }
}
