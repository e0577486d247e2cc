import Larder
import LarderSync

/// The records of a simulated service, and what its client has seen of them.
struct ServiceRecords: Sendable {
    /// A change of a record in the service's history.
    private struct Change {
        let time: Int64
        /// The members that it has changed; nil if it has deleted the record.
        let members: Set<String>?
        let isOwn: Bool
        /// The record after it; nil if it has deleted the record.
        var record: JSONText?
    }

    private(set) var records: [String: JSONText] = [:]
    private(set) var made: [SimulatedService.Made] = []
    /// The ids in the order of their last changes, each with the time.
    private var order: [(time: Int64, id: String)] = []
    private var changes: [String: [Change]] = [:]
    /// The time of the last change of each record that the client was told.
    private var seen: [String: Int64] = [:]
    /// The same, at the time at which a change was sent first: what its sender learned later is not in it.
    private var seenAtFirst: [ServiceChange: Int64] = [:]
    private var results: [String: ServiceResult] = [:]
    private var last: Int64 = 0

    // MARK: Changes

    mutating func put(_ id: String, _ values: JSONText, in dialect: ServiceDialect, now: Int64) {
        made.append(SimulatedService.Made(change: nil, id: id, isBlind: false, time: now))
        set(id, values, in: dialect, now: now, isOwn: false)
    }

    mutating func delete(_ id: String, now: Int64) {
        made.append(SimulatedService.Made(change: nil, id: id, isBlind: false, time: now))
        remove(id, now: now, isOwn: false)
    }

    /// Notes that a client sends a change, whether it arrives or not.
    mutating func note(sendingOf change: ServiceChange) {
        let known = change.id?.name.flatMap { seen[$0] } ?? 0
        if seenAtFirst[change.identity] == nil { seenAtFirst[change.identity] = known }
    }

    /// Makes a change that a client has sent.
    mutating func make(_ change: ServiceChange, in dialect: ServiceDialect, now: Int64) -> ServiceResult {
        if let key = change.key, let known = results[key] { return known }
        let result = makeNew(change, in: dialect, now: now)
        if let key = change.key, result.status < 300 { results[key] = result }
        return result
    }

    private mutating func makeNew(
        _ change: ServiceChange, in dialect: ServiceDialect, now: Int64
    ) -> ServiceResult {
        if change.kind == .create {
            let id = dialect.namesRecords ? "named-\(made.count + 1)" : change.values[dialect.id]?.name ?? ""
            if id.isEmpty { return ServiceResult(of: change, status: 422, record: nil) }
            if let present = records[id] { return ServiceResult(of: change, status: 409, record: present) }
            return create(id, change, in: dialect, now: now)
        }
        let id = change.id?.name ?? ""
        guard let present = records[id] else {
            if change.makesRecord, !id.isEmpty { return create(id, change, in: dialect, now: now) }
            return ServiceResult(of: change, status: 404, record: nil)
        }
        if let version = change.version, let place = dialect.version, present[place]?.name != version.name {
            return ServiceResult(of: change, status: 412, record: present)
        }
        made.append(SimulatedService.Made(change: change, id: id, isBlind: isBlind(change, of: id, present), time: now))
        if change.kind == .delete {
            remove(id, now: now, isOwn: true)
            return ServiceResult(of: change, status: 204, record: nil)
        }
        return ServiceResult(
            of: change, status: 200, record: set(id, change.values, in: dialect, now: now, isOwn: true))
    }

    private mutating func create(
        _ id: String, _ change: ServiceChange, in dialect: ServiceDialect, now: Int64
    ) -> ServiceResult {
        made.append(SimulatedService.Made(change: change, id: id, isBlind: false, time: now))
        let record = set(id, change.values, in: dialect, now: now, isOwn: true)
        return ServiceResult(of: change, status: 201, record: record)
    }

    /// Returns whether a change replaces one of another device that its sender has not seen.
    private func isBlind(_ change: ServiceChange, of id: String, _ present: JSONText) -> Bool {
        let known = seenAtFirst[change.identity] ?? seen[id] ?? 0
        let unseen = (changes[id] ?? []).filter { !$0.isOwn && $0.time > known }
        if change.kind == .delete { return !unseen.isEmpty }
        let written = Set(
            change.values.members.filter { member in present[[member.name]].map { !$0.means(member.value) } ?? true }
                .map(\.name))
        return unseen.contains { !written.isDisjoint(with: $0.members ?? []) }
    }

    @discardableResult
    private mutating func set(
        _ id: String, _ values: JSONText, in dialect: ServiceDialect, now: Int64, isOwn: Bool
    ) -> JSONText {
        let time = next(now)
        var record = records[id] ?? .object
        for member in values.members {
            record = record.setting([member.name], to: member.value.kind == .null ? nil : member.value)
        }
        if record[dialect.id]?.name != id { record = record.setting(dialect.id.steps, to: JSONText(string: id)) }
        if let version = dialect.version {
            record = record.setting(version.steps, to: JSONText(string: "v\(time)"))
        }
        if let updatedAt = dialect.updatedAt {
            record = record.setting(updatedAt.steps, to: dialect.time(time))
        }
        records[id] = record
        note(id, Change(time: time, members: Set(values.members.map(\.name)), isOwn: isOwn, record: record))
        return record
    }

    private mutating func remove(_ id: String, now: Int64, isOwn: Bool) {
        guard records.removeValue(forKey: id) != nil else { return }
        note(id, Change(time: next(now), members: nil, isOwn: isOwn))
    }

    private mutating func note(_ id: String, _ change: Change) {
        order.removeAll { $0.id == id }
        order.append((change.time, id))
        changes[id, default: []].append(change)
    }

    private mutating func next(_ now: Int64) -> Int64 {
        last = max(last + 1, now)
        return last
    }

    // MARK: Pages

    /// Returns a page. Its time is before that of any later change, so that the next question misses none.
    mutating func page(_ question: ServiceQuestion, now: Int64) -> ServicePage {
        last = max(last, now)
        // A client that asks for everything is told no deletions.
        let rows = order.filter { row in question.after.map { row.time > $0 } ?? (records[row.id] != nil) }
        let end = min(question.skipped + question.limit, rows.count)
        let part = rows[min(question.skipped, rows.count)..<max(end, min(question.skipped, rows.count))]
        return ServicePage(
            part.compactMap { records[$0.id] },
            deleted: part.filter { records[$0.id] == nil }.map { JSONText(string: $0.id) }, asked: question.after,
            time: last, next: end < rows.count ? end : nil)
    }

    /// Notes that the client was told a record. An answer that is given again may have an older one.
    mutating func deliver(_ record: JSONText?, _ dialect: ServiceDialect) {
        guard let record, let id = record[dialect.id]?.name,
            let time = changes[id]?.last(where: { $0.record == record })?.time
        else { return }
        seen[id] = max(seen[id] ?? 0, time)
    }

    /// Notes that the client was told a deletion.
    mutating func deliverDeletion(_ id: String) { seen[id] = changes[id]?.last?.time }
}

extension ServiceChange {
    /// The same change in all tries. One that was refused and is sent again has another key, or expects another version.
    fileprivate var identity: ServiceChange {
        var change = self
        if key != nil { change.version = nil }
        return change
    }
}
