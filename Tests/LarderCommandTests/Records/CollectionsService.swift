import LarderFoundation
import Larder
import LarderSystem

/// A service of collections over HTTP, with faults of its own.
final class CollectionsService: Sendable {
    /// The faults that it can have.
    enum Fault: Hashable, Sendable {
        /// Each answer has this status.
        case fails(Int)
        /// Each answer is a page for people.
        case login
        /// The same change makes a second record.
        case forgetsKeys
        /// A change of an old version is made.
        case ignoresVersions
        case hidesDeletions
        case hidesIDs
        /// The first record of a page has no id.
        case hidesOneID
        case ignoresSince
        case leadsInCircles
        case ignoresCursors
        /// Only the first page is answered.
        case failsCursors
        /// The clock is ahead by two days.
        case isAhead
        /// Answers to changes have no record.
        case hidesRecords
        case hidesRecordsFromLookups
        /// Lists are elsewhere.
        case listsElsewhere
        /// A token that it does not know is answered with this status; with 200, with all records.
        case forgetsTokens(Int)
        case refusesChanges(Int)
        /// A new record is made, and the answer is lost.
        case losesAnswers
        /// Changes of records fail.
        case failsUpdates
        /// It never answers.
        case isSilent
    }

    private struct State {
        var rows: [String: [String: JSON]] = [:]
        var order: [String] = []
        var deleted: [String] = []
        var answers: [String: LoopbackServer.Reply] = [:]
        var count = 0
        var faults: Set<Fault> = []
        var calls = 0
    }

    private let state = Locked(State())

    init(records: Int = 3) {
        state.withLock { state in
            for number in 0..<records { Self.add(["name": .string("secret \(number)")], to: &state) }
        }
    }

    /// The faults that it has now.
    var faults: Set<Fault> {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    /// The number of calls so far.
    var calls: Int { state.withLock { $0.calls } }

    /// The names of the records that it has.
    var names: [String] {
        state.withLock { state in
            state.order.compactMap { state.rows[$0]?["name"] }.map {
                if case .string(let name) = $0 { name } else { "" }
            }
        }
    }

    @discardableResult
    private static func add(_ record: [String: JSON], to state: inout State) -> String {
        state.count += 1
        let id = "id-\(state.count)"
        state.rows[id] = record.merging(
            ["id": .string(id), "revision": .int(1), "updatedAt": milliseconds(of: Dumps.now - .seconds(3_600))]
        ) { $1 }
        state.order.append(id)
        return id
    }

    // MARK: Answers

    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Reply? {
        state.withLock { state in
            state.calls += 1
            if state.faults.contains(.isSilent) { return nil }
            for case .fails(let status) in state.faults { return Self.reply(status, ["error": "no"]) }
            if state.faults.contains(.login) {
                return LoopbackServer.Reply(
                    status: 200, headers: ["Content-Type": "text/html"], body: "<html>hello</html>")
            }
            let url = URLComponents(string: request.path)
            let id = url?.path.split(separator: "/").dropFirst().first.map(String.init)
            var query: [String: String] = [:]
            for item in url?.queryItems ?? [] { query[item.name] = item.value }
            if request.method != "GET" { return Self.change(request, id, &state) }
            guard let id else { return Self.list(query, state) }
            guard let row = state.rows[id], !state.faults.contains(.hidesRecordsFromLookups) else {
                return Self.reply(404, ["error": "none"])
            }
            return Self.reply(200, Self.json(row))
        }
    }

    private static func list(_ query: [String: String], _ state: State) -> LoopbackServer.Reply {
        let faults = state.faults
        if faults.contains(.failsCursors), query["cursor"] != nil { return reply(500, ["error": "no"]) }
        if let token = query["token"], !token.hasPrefix("t") {
            for case .forgetsTokens(let status) in faults where status != 200 {
                return reply(status, ["error": "gone"])
            }
            if !faults.contains(.forgetsTokens(200)) { return reply(410, ["error": "gone"]) }
        }
        let isPartial = query["since"] != nil || query["token"]?.hasPrefix("t") == true
        let all = isPartial && !faults.contains(.ignoresSince) ? [] : state.order.compactMap { state.rows[$0] }
        let limit = query["limit"].flatMap { Int($0) } ?? 100
        let start = faults.contains(.ignoresCursors) ? 0 : query["cursor"].flatMap { Int($0) } ?? 0
        let page = all.dropFirst(start).prefix(limit).enumerated().map { number, row in
            let hidesID = faults.contains(.hidesIDs) || number == 0 && faults.contains(.hidesOneID)
            return json(hidesID ? row.filter { $0.key != "id" } : row)
        }
        var next: JSON = start + limit < all.count ? .string("\(start + limit)") : .null
        if faults.contains(.leadsInCircles) { next = "1" }
        if faults.contains(.ignoresCursors), query["cursor"] != nil { next = .null }
        let time = faults.contains(.isAhead) ? Dumps.now + .seconds(2 * 86_400) : Dumps.now
        return reply(
            200,
            [
                faults.contains(.listsElsewhere) ? "rows" : "collections": .list(Array(page)), "nextCursor": next,
                "serverTime": milliseconds(of: time), "token": .string("t\(state.count)"),
                "deletedIds": .list(
                    isPartial && !faults.contains(.hidesDeletions) ? state.deleted.map(JSON.string) : []),
            ])
    }

    private static func change(
        _ request: LoopbackServer.Request, _ id: String?, _ state: inout State
    ) -> LoopbackServer.Reply {
        for case .refusesChanges(let status) in state.faults { return reply(status, ["error": "no"]) }
        let key = request.headers["idempotency-key"] ?? ""
        if let known = state.answers[key], !state.faults.contains(.forgetsKeys) { return known }
        let answer = make(request, id, &state)
        state.answers[key] = answer
        return answer
    }

    private static func make(
        _ request: LoopbackServer.Request, _ id: String?, _ state: inout State
    ) -> LoopbackServer.Reply {
        var body: [String: JSON] = [:]
        let text = (try? JSONParser.parse(SourceText(name: "body", bytes: Array(request.body))).json) ?? .null
        for member in text.members ?? [] { body[member.name] = member.value }
        if body["name"] == "bad" { return reply(422, ["error": "bad"]) }
        guard let id else {
            let new = add(body, to: &state)
            if state.faults.contains(.losesAnswers) { return reply(503, ["error": "no"]) }
            return reply(201, state.faults.contains(.hidesRecords) ? [:] : json(state.rows[new] ?? [:]))
        }
        guard let row = state.rows[id], case .int(let revision)? = row["revision"] else {
            return reply(404, ["error": "none"])
        }
        let match = request.headers["if-match"]
        if let match, match != "\(revision)", !state.faults.contains(.ignoresVersions) { return reply(412, json(row)) }
        if state.faults.contains(.failsUpdates), request.method != "DELETE" { return reply(500, ["error": "no"]) }
        if request.method == "DELETE" {
            state.rows[id] = nil
            state.order.removeAll { $0 == id }
            state.deleted.append(id)
            return LoopbackServer.Reply(status: 204)
        }
        let changed = row.merging(body) { $1 }.merging(["revision": .int(revision + 1)]) { $1 }
        state.rows[id] = changed
        return reply(200, json(changed))
    }

    private static func milliseconds(of time: Timestamp) -> JSON { .int(Int(time.nanoseconds / 1_000_000)) }

    private static func json(_ row: [String: JSON]) -> JSON {
        .object(row.sorted { $0.key < $1.key }.map { JSON.Member($0.key, $0.value) })
    }

    private static func reply(_ status: Int, _ body: JSON) -> LoopbackServer.Reply {
        LoopbackServer.Reply(status: status, headers: ["Content-Type": "application/json"], body: body.text())
    }
}
