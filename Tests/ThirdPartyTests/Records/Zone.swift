import Foundation
import Larder
import LarderSimulation
import LarderSync

/// A service that an app reaches with a library of its own, as CloudKit: it has no URL, and its positions are opaque.
actor Zone: TestedService {
    /// The library's errors.
    enum ZoneError: Error { case tokenExpired, unreachable, notAuthenticated, serverRecordChanged(JSONText), refused }

    /// The result of the library's call for changes.
    struct Changes {
        var records: [JSONText] = []
        var deletedIDs: [String] = []
        var token: Data
        var hasMore = false
    }

    private var saved: [String: JSONText] = [:]
    private var history: [(number: Int, id: String)] = []
    private var (number, oldest) = (0, 0)
    private var trouble: ServiceTrouble?
    private var keys: Set<String> = []

    // MARK: The library

    func changes(since token: Data?, most: Int) throws -> Changes {
        try check()
        let start = token.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
        if token != nil, start < oldest { throw ZoneError.tokenExpired }
        let all = history.filter { $0.number > start }
        let page = all.prefix(most)
        return Changes(
            records: page.compactMap { saved[$0.id] }, deletedIDs: page.filter { saved[$0.id] == nil }.map(\.id),
            token: Data("\(page.last?.number ?? max(start, oldest))".utf8), hasMore: all.count > most)
    }

    /// Saves records, or deletes those that are nil.
    func save(_ changes: [(id: String, record: JSONText?, key: String)]) throws -> [Result<JSONText?, ZoneError>] {
        try check()
        let results = changes.map { change -> Result<JSONText?, ZoneError> in
            if trouble == .refuses(id: change.id) { return .failure(.refused) }
            if !keys.insert(change.key).inserted { return .success(saved[change.id]) }
            let present = saved[change.id]?["tag"]?.number
            if let tag = change.record?["tag"]?.number, let present, tag != present {
                return saved[change.id].map { .failure(.serverRecordChanged($0)) } ?? .failure(.refused)
            }
            set(change.record, change.id)
            return .success(saved[change.id])
        }
        if trouble == .losesAnswers { throw ZoneError.unreachable }
        return results
    }

    private func check() throws {
        switch trouble {
        case .unreachable, .loginPage: throw ZoneError.unreachable
        case .signedOut: throw ZoneError.notAuthenticated
        case .losesAnswers, .refuses, nil: break
        }
    }

    private func set(_ record: JSONText?, _ id: String) {
        number += 1
        history.removeAll { $0.id == id }
        history.append((number, id))
        saved[id] = record?.with("tag", JSONText(.int(number)))
    }

    // MARK: The service of a suite

    var records: [JSONText] { saved.sorted { $0.key < $1.key }.map(\.value) }
    func put(_ record: JSONText) { set(record, record["id"]?.name ?? "") }
    func delete(_ id: String) { set(nil, id) }
    func set(_ trouble: ServiceTrouble?) { self.trouble = trouble }

    func forgetPositions() -> Bool {
        number += 1
        oldest = number
        return true
    }

    nonisolated func load(_ call: Call) async throws -> Loaded<Entry> {
        throw LoadError(.failed, "the zone has no URL")
    }
}

extension JSONText {
    /// Returns an object with another value of a member.
    func with(_ name: String, _ value: JSONText) -> JSONText {
        JSONText(object: members.filter { $0.name != name } + [(name, value)])
    }
}

extension Zone {
    /// The puller of the app.
    @Sendable nonisolated func page(_ ask: PullQuestion) async throws -> PullPage {
        do {
            let token = (ask.cursor ?? ask.position).flatMap { Data(base64Encoded: $0) }
            let found = try await changes(since: token, most: ask.limit)
            let next = found.token.base64EncodedString()
            return PullPage(
                found.records, deleted: found.deletedIDs, next: found.hasMore ? next : nil,
                position: found.hasMore ? nil : next)
        } catch ZoneError.tokenExpired { throw PullError.positionExpired }
    }

    /// The pusher of the app.
    @Sendable nonisolated func push(_ changes: [PushedChange], _ call: PushCall) async throws -> [WriteOutcome] {
        do {
            return try await save(changes.map { ($0.id?.name ?? "", $0.record, $0.key) }).map { result in
                switch result {
                case .success(let record): .accepted(record)
                case .failure(.serverRecordChanged(let record)): .conflict(record)
                case .failure(.notAuthenticated): .signedOut
                case .failure(.refused): .rejected(status: nil)
                case .failure: .unknown
                }
            }
        } catch ZoneError.notAuthenticated { return changes.map { _ in .signedOut } }
    }
}
