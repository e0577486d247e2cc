import Larder

@testable import LarderSync

/// A change as it travels to the service.
struct ModelRequest: Hashable, Sendable {
    var device: Int
    var record: Int64
    var write: Int64
    var kind: QueuedWrite.Kind
    var id: String
    var changes: [FieldChange]
    var version: JSONText?
    var key: String
}

/// A service with records, times, versions, keys, tombstones and pages.
struct ModelService: Hashable, Sendable {
    struct Record: Hashable, Sendable {
        var id: String
        /// Nil for a deleted record.
        var text: JSONText?
        /// The time of the last change.
        var at: Int
    }

    struct Answer: Hashable, Sendable {
        var key: String
        var outcome: WriteOutcome
    }

    /// A change that the service has made.
    struct Change: Hashable, Sendable {
        var device: Int
        var write: Int64
        var at: Int
        var id: String
        var isDeletion = false
    }

    /// All records, also deleted ones, in the order of their ids.
    var records: [Record] = []
    var clock = 0
    var named = 0
    var answers: [Answer] = []
    var changes: [Change] = []

    var live: [Record] { records.filter { $0.text != nil } }

    func record(_ id: String) -> Record? { records.first { $0.id == id } }

    // MARK: Changes

    mutating func answer(_ request: ModelRequest, _ rules: ModelRules) -> WriteOutcome {
        if rules.knowsKeys, let known = answers.first(where: { $0.key == request.key }) { return known.outcome }
        let present = record(request.id)?.text
        if request.changes.contains(where: { isBad($0.after) }) { return .rejected(status: 422) }
        var result: JSONText?
        var id = request.id
        switch request.kind {
        case .create:
            if rules.ids == .client, let present { return conflict(present, rules) }
            if rules.ids == .server {
                named += 1
                id = "s\(named)"
            }
            result = request.changes[0].after?.setting(["id"], to: JSONText(string: id))
        case .update:
            guard let present else { return .conflictWithDeletion }
            if isOther(request.version, present, rules) { return conflict(present, rules) }
            result = request.changes.reduce(present) { applying($1, to: $0, rules) }
        case .delete:
            guard let present else { return .accepted(nil) }
            if isOther(request.version, present, rules) { return conflict(present, rules) }
        }
        clock += 1
        if let text = result {
            result = text.setting(["at"], to: JSONText(.int(clock)))
            if rules.hasVersions { result = result?.setting(["rev"], to: JSONText(.int(clock))) }
        }
        put(Record(id: id, text: result, at: clock))
        changes.append(
            Change(device: request.device, write: request.write, at: clock, id: id, isDeletion: result == nil))
        let outcome = WriteOutcome.accepted(rules.answersWithRecord || needsName(request, rules) ? result : nil)
        answers.append(Answer(key: request.key, outcome: outcome))
        return outcome
    }

    mutating func put(_ record: Record) {
        if let place = records.firstIndex(where: { $0.id == record.id }) {
            records[place] = record
        } else {
            records.append(record)
            records.sort { $0.id < $1.id }
        }
    }

    private func needsName(_ request: ModelRequest, _ rules: ModelRules) -> Bool {
        request.kind == .create && rules.ids == .server
    }

    private func isBad(_ value: JSONText?) -> Bool {
        value?.string == "bad" || value?["x"]?.string == "bad"
    }

    private func conflict(_ record: JSONText, _ rules: ModelRules) -> WriteOutcome {
        rules.conflictsTellRecord ? .conflict(record) : .conflictWithoutRecord
    }

    private func isOther(_ version: JSONText?, _ record: JSONText, _ rules: ModelRules) -> Bool {
        guard rules.hasVersions, let version else { return false }
        return version != record["rev"]
    }

    private func applying(_ change: FieldChange, to record: JSONText, _ rules: ModelRules) -> JSONText {
        guard rules.unions, change.path == ["tags"] else { return record.setting(change.path, to: change.after) }
        let (before, after) = (change.before?.items ?? [], change.after?.items ?? [])
        var items = record["tags"]?.items ?? []
        items.removeAll { before.contains($0) && !after.contains($0) }
        for item in after where !before.contains(item) && !items.contains(item) { items.append(item) }
        return record.setting(["tags"], to: JSONText(list: items))
    }

    // MARK: Pages

    /// Returns a page.
    ///
    /// - Parameters:
    ///   - position: the position from which a pull begins; nil for a full one.
    ///   - cursor: the cursor of the page before.
    func page(from position: String?, cursor: String?, _ rules: ModelRules) -> PulledPage {
        switch rules.pull {
        case .all:
            let rest = live.filter { record in cursor.map { record.id > $0 } ?? true }
            let shown = rest.prefix(rules.pageSize)
            return PulledPage(
                records: shown.compactMap(pulled), next: rest.count > shown.count ? shown.last?.id : nil)
        case .since, .token:
            let from = Int((cursor ?? position ?? "-1").drop { $0 == "c" }) ?? -1
            let isFull = position == nil && cursor == nil
            let rest = records.filter { $0.at > from && !(isFull && $0.text == nil) }.sorted { $0.at < $1.at }
            let shown = rest.prefix(rules.pageSize)
            let last = shown.last?.at ?? max(from, 0)
            let isLast = rest.count == shown.count
            return PulledPage(
                records: shown.compactMap(pulled), deleted: shown.filter { $0.text == nil }.map(\.id),
                next: isLast ? nil : "c\(last)",
                position: rules.pull == .since ? "\(clock)" : isLast ? "\(last)" : nil)
        }
    }

    private func pulled(_ record: Record) -> PulledRecord? {
        record.text.map { PulledRecord(id: record.id, idText: JSONText(string: record.id), record: $0) }
    }
}
