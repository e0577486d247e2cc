import Larder

@testable import LarderSync

/// Keeps its own books of what users made and saw. It shares only types of data with the planner.
struct Judge: Hashable, Sendable {
    /// A write that was made and has not ended.
    struct Pending: Hashable, Sendable {
        var device: Int
        var write: Int64
        var record: Int64
    }

    /// Something that a user sees until it is accepted and replaced, or ends with an event.
    struct Expectation: Hashable, Sendable {
        enum Sight: Hashable, Sendable {
            case field(String, JSONText?)
            case item(String, isThere: Bool)
            case deleted
        }

        var device: Int
        var record: Int64
        var sight: Sight
        /// The write that carries it.
        var write: Int64
        var isAccepted = false
    }

    /// The time of the newest state of a record that a device has had.
    struct Newest: Hashable, Sendable {
        var device: Int
        var id: String
        var at: Int
    }

    struct Content: Hashable, Sendable {
        var key: String
        var kind: QueuedWrite.Kind
        var changes: [FieldChange]
        var device: Int
        var write: Int64
        /// Whether it is the last one of its write that was sent.
        var isLast = true
    }

    var pending: [Pending] = []
    var expected: [Expectation] = []
    var newest: [Newest] = []
    var contents: [Content] = []
    /// The writes that the service has refused because of a conflict.
    var refused: Set<Pending> = []
    /// The number of pending writes before the present step, by the change of which writes vanish.
    private var vanished = 0

    // MARK: What happens

    /// The user has made a write, which is in its row now.
    mutating func made(_ write: Int64, _ step: ModelWrite, _ row: RecordRow, _ device: Int, _ rules: ModelRules)
        throws(Violation)
    {
        let numbers = Set(row.writes.map(\.number))
        if !rules.merges, !numbers.contains(write) { throw Violation("merge", "a write is merged with another") }
        let lost = pending.filter { $0.device == device && $0.record == row.number && !numbers.contains($0.write) }
        for write in lost where !refused.contains(write) {
            let isOut = contents.contains { $0.device == device && $0.write == write.write && $0.isLast }
            if !isOut { continue }
            throw Violation("I2", "write \(write.write) vanishes, which the service may have")
        }
        if let write = row.writes.last, write.number == numbers.max(), let base = row.base?["t"]?.integer,
            let time = write.patch[["t"]]?.after?.integer, time <= base
        {
            throw Violation("I11", "write \(write.number) seems to be older than what its user saw")
        }
        let before = pending.count
        pending.removeAll { $0.device == device && $0.record == row.number && !numbers.contains($0.write) }
        vanished = before - pending.count
        for number in row.writes.filter(\.isPending).map(\.number) {
            let new = Pending(device: device, write: number, record: row.number)
            if !pending.contains(new) { pending.append(new) }
        }
        guard let carrier = row.writes.last?.number else {
            forgetExpectations(of: row.number, device)
            return
        }
        let shown = row.shown(idPath: ["id"])
        var sights: [Expectation.Sight] = []
        switch step {
        case .set(_, let field): sights = [.field(field, shown?[field])]
        case .setBad: sights = [.field("x", shown?["x"])]
        case .put: sights = [.field("x", shown?["x"]), .field("y", nil)]
        case .create, .createBad, .createReferring: sights = [.field("x", shown?["x"])]
        case .add(_, let tag): sights = [.item(tag, isThere: true)]
        case .remove(_, let tag): sights = [.item(tag, isThere: false)]
        case .delete: sights = [.deleted]
        case .refer, .undo: break
        }
        expected.removeAll { old in
            old.device == device && old.record == row.number
                && (step.replacesAll || sights.contains { $0.isSamePlace(as: old.sight) })
        }
        for place in expected.indices where expected[place].device == device && expected[place].record == row.number {
            // A merged write is carried by the write that is left.
            if !numbers.contains(expected[place].write), !expected[place].isAccepted { expected[place].write = carrier }
        }
        let own = numbers.contains(write) ? write : carrier
        expected += sights.map { Expectation(device: device, record: row.number, sight: $0, write: own) }
    }

    mutating func move(_ record: Int64, to other: Int64, _ device: Int) {
        for place in pending.indices where pending[place].device == device && pending[place].record == record {
            pending[place].record = other
        }
        for place in expected.indices where expected[place].device == device && expected[place].record == record {
            expected[place].record = other
        }
    }

    mutating func forgetExpectations(of record: Int64, _ device: Int) {
        expected.removeAll { $0.device == device && $0.record == record }
    }

    mutating func signedOut(_ device: Int) {
        expected.removeAll { $0.device == device }
        newest.removeAll { $0.device == device }
    }

    /// A device sends a request.
    mutating func sent(_ request: ModelRequest, of row: RecordRow, _ rules: ModelRules) throws(Violation) {
        let name = "write \(request.write) of device \(request.device)"
        let texts = request.changes.compactMap(\.after).map { String(decoding: $0.bytes, as: UTF8.self) }
        let paths = request.changes.flatMap(\.path)
        let id = request.kind == .create && rules.ids == .server ? "" : request.id
        if (texts + paths + [id]).contains(where: { $0.contains("tmp-") }) {
            throw Violation("I7", "\(name) carries a temporary id")
        }
        if let known = contents.first(where: { $0.key == request.key }) {
            if known.kind != request.kind || known.changes.map(\.after) != request.changes.map(\.after) {
                throw Violation("I4", "\(name) has a key with another content")
            }
            if known.write != request.write { throw Violation("I4", "\(name) has the key of another write") }
        } else {
            for place in contents.indices
            where contents[place].device == request.device && contents[place].write == request.write {
                contents[place].isLast = false
            }
            contents.append(
                Content(
                    key: request.key, kind: request.kind, changes: request.changes, device: request.device,
                    write: request.write))
        }
        let earlier = pending.contains {
            $0.device == request.device && $0.record == request.record && $0.write < request.write
        }
        if earlier { throw Violation("I5", "\(name) is sent before an earlier one of its record") }
        if !pending.contains(where: { $0.device == request.device && $0.write == request.write }) {
            throw Violation("I2", "\(name) is sent and was never made, or has ended")
        }
    }

    /// Forgets the contents of keys that occur nowhere, and renames the others.
    mutating func forgetKeys(_ name: (String) -> String?) {
        contents = contents.compactMap { content in
            guard let name = name(content.key) else { return nil }
            var content = content
            content.key = name
            return content
        }.sorted { $0.key < $1.key }
    }

    mutating func takeVanished() -> Int {
        defer { vanished = 0 }
        return vanished
    }
}

extension Judge.Expectation.Sight {
    func isSamePlace(as other: Self) -> Bool {
        switch (self, other) {
        case (.field(let left, _), .field(let right, _)): left == right
        case (.item(let left, _), .item(let right, _)): left == right
        case (.deleted, .deleted): true
        default: false
        }
    }

    /// Returns whether a user sees it in a record.
    func isSeen(in record: JSONText?) -> Bool {
        switch self {
        case .field(let name, let value): record != nil && record?[name] == value
        case .item(let tag, let isThere):
            record != nil && (record?["tags"]?.items.contains(JSONText(string: tag)) ?? false) == isThere
        case .deleted: record == nil
        }
    }
}

extension ModelWrite {
    /// Whether nothing of earlier changes of the record is left.
    var replacesAll: Bool {
        switch self {
        case .create, .createBad, .createReferring, .put, .delete: true
        default: false
        }
    }
}
