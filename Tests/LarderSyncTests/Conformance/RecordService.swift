import Larder
import LarderFoundation
import LarderSimulation
import LarderSync
import LarderSystem

/// A service of records that speaks JSON, for the suites.
final class RecordService: TestedService {
    fileprivate struct State {
        var records: [String: JSONText] = [:]
        /// The ids in the order of their last changes.
        var changes: [(number: Int, id: String)] = []
        var number = 0
        /// The oldest position that it knows.
        var oldest = 0
        var trouble: ServiceTrouble?
        /// The answers by their keys.
        var answers: [String: JSONText] = [:]
    }

    private let state = Locked(State())
    let namesRecords: Bool

    init(namesRecords: Bool = false) { self.namesRecords = namesRecords }

    var records: [JSONText] { state.withLock { $0.records.sorted { $0.key < $1.key }.map(\.value) } }

    func put(_ record: JSONText) { state.withLock { _ = $0.set(record, record["id"]?.name ?? "") } }
    func delete(_ id: String) { state.withLock { $0.remove(id) } }
    func set(_ trouble: ServiceTrouble?) { state.withLock { $0.trouble = trouble } }

    func forgetPositions() -> Bool {
        state.withLock { state in
            state.number += 1
            state.oldest = state.number
        }
        return true
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let answer = try state.withLock { state -> JSONText? in
            switch state.trouble {
            case .unreachable: throw LoadError(.failed, "there is no network")
            case .signedOut: throw LoadError.status(401)
            case .loginPage: return nil
            case .losesAnswers, .refuses, nil: break
            }
            guard let method = call.method else { return try state.page(call.request.parameters) }
            let answer = try state.change(method, call.request, namesRecords: namesRecords)
            if state.trouble == .losesAnswers { throw LoadError(.failed, "the connection was lost") }
            return answer
        }
        guard let answer else {
            return Loaded(Entry(Data("<html>Welcome</html>".utf8), Metadata(contentType: "text/html", status: 200)))
        }
        return Loaded(Entry(Data(answer.bytes), Metadata(status: 200)))
    }
}

extension RecordService.State {
    fileprivate mutating func set(_ record: JSONText, _ id: String) -> JSONText {
        note(id)
        let record = record.setting(["id"], to: JSONText(string: id)).setting(["v"], to: JSONText(.int(number)))
        records[id] = record
        return record
    }

    fileprivate mutating func remove(_ id: String) {
        note(id)
        records[id] = nil
    }

    private mutating func note(_ id: String) {
        number += 1
        changes.removeAll { $0.id == id }
        changes.append((number, id))
    }

    /// Answers a lookup: everything, or the changes after a number, page by page.
    fileprivate func page(_ parameters: Parameters) throws -> JSONText {
        let limit = parameters["limit"].flatMap { Int($0) } ?? 100
        let start = (parameters["cursor"] ?? parameters["since"] ?? parameters["token"]).flatMap { Int($0) } ?? 0
        if parameters["cursor"] == nil, start > 0, start < oldest { throw LoadError.status(410) }
        let all = changes.filter { $0.number > start }
        let page = all.prefix(limit)
        let isLast = all.count <= limit
        let last = page.last?.number ?? max(start, number)
        let gone = page.filter { records[$0.id] == nil }.map { JSONText(string: $0.id) }
        return JSONText(object: [
            ("items", JSONText(list: page.compactMap { records[$0.id] })), ("deleted", JSONText(list: gone)),
            ("next", isLast ? .null : JSONText(string: "\(last)")), ("more", JSONText(.bool(!isLast))),
            ("now", JSONText(.int(number))), ("token", JSONText(string: "\(isLast ? number : last)")),
        ])
    }

    fileprivate mutating func change(_ method: String, _ request: Request, namesRecords: Bool) throws -> JSONText {
        let body = try request.body.map { try JSONText($0) } ?? .object
        if let operations = body["operations"] {
            let results = operations.items.map { operation -> JSONText in
                do {
                    let record = try change(
                        operation["op"]?.string ?? "", operation["id"]?.name, operation["record"] ?? .object,
                        operation["set"] ?? .object, key: operation["key"]?.string, version: nil, namesRecords)
                    return JSONText(object: [("code", JSONText(.int(200))), ("record", record)])
                } catch {
                    return JSONText(object: [("code", JSONText(.int((error as? LoadError)?.status ?? 500)))])
                }
            }
            return JSONText(object: [("results", JSONText(list: results))])
        }
        let kind = ["POST": "create", "PATCH": "update", "DELETE": "delete"][method] ?? ""
        return try change(
            kind, request.parameters["id"] ?? body["id"]?.name, body, body, key: request.fields["Idempotency-Key"],
            version: request.fields["If-Match"], namesRecords)
    }

    private mutating func change(
        _ kind: String, _ id: String?, _ record: JSONText, _ set: JSONText, key: String?, version: String?,
        _ namesRecords: Bool
    ) throws -> JSONText {
        if let known = key.flatMap({ answers[$0] }) { return known }
        if let id, trouble == .refuses(id: id) { throw LoadError.status(422) }
        var answer = JSONText.object
        switch kind {
        case "create": answer = self.set(record, namesRecords ? "named-\(number + 1)" : id ?? "")
        case "update":
            guard let id, let present = records[id] else { throw LoadError.status(404) }
            if let version, present["v"]?.name != version { throw LoadError.status(412) }
            answer = self.set(set.members.reduce(present) { $0.setting([$1.name], to: $1.value) }, id)
        default: if let id { remove(id) }
        }
        if let key { answers[key] = answer }
        return answer
    }
}
