import Larder

/// The changes of one transaction: see `Pantry.write(_:)`.
///
/// Each method sees the changes that were made before. A temporary id that a create has returned can be used in other
/// records: it is replaced when the service has named the record.
public final class RecordWriter {
    private let pantry: Pantry
    private let transaction: RecordTransaction
    private var parts: [RecordPart] = []

    private let accounts: PresentAccounts

    init(_ pantry: Pantry, _ transaction: RecordTransaction, for accounts: PresentAccounts) {
        (self.pantry, self.transaction, self.accounts) = (pantry, transaction, accounts)
    }

    /// Makes a record.
    ///
    /// If the policy says that the app names records (`"ids": "client"`), the id of the value is taken, or a new one is
    /// made if it has none. If the service names them, the record has a temporary id until then.
    ///
    /// - Throws: ``RecordError``, with the code ``RecordError/Code/undecodable`` if the new record lacks what only the service
    ///   fills in and the type needs.
    @discardableResult
    public func create<Value>(_ value: Value, in records: Records<Value>) throws -> Record<Value> {
        let part = try part(records)
        let (planner, text) = (part.planner, try records.coding.encode(value))
        if planner.rules.ids == .server { return try write(.create(text), id: nil, part, records) }
        let idPath = planner.rules.idPath
        if let id = text[idPath]?.name, !id.isEmpty { return try write(.create(text), id: id, part, records) }
        let id = UUIDv7.make(in: part.attachment.world)
        return try write(.create(text.setting(idPath, to: JSONText(string: id))), id: id, part, records)
    }

    /// Makes a record, by the name of its resource: see ``create(_:in:)-(Value,Records<Value>)``.
    @discardableResult
    public func create<Value: Codable & Sendable>(_ value: Value, in resource: String) throws -> Record<Value> {
        try create(value, in: pantry.records(resource, of: Value.self))
    }

    /// Changes a record. What differs between the value before and after is the change; fields that the type does not know
    /// stay as they are.
    ///
    /// - Throws: ``RecordError``, with the code ``RecordError/Code/noRecord`` if there is no such record; the error of
    ///   `change`.
    @discardableResult
    public func update<Value>(
        _ id: String, in records: Records<Value>, _ change: (inout Value) throws -> Void
    ) throws -> Record<Value> {
        let part = try part(records)
        guard let shown = try part.shown(id) else { throw RecordError(WriteRefusal.noRecord) }
        let value = try records.coding.decode(shown)
        var changed = value
        try change(&changed)
        return try write(
            .update(from: records.coding.encode(value), to: records.coding.encode(changed)), id: id, part, records)
    }

    /// Makes the record of the value's id be this, whether it exists or not. Fields that the type does not know stay as they
    /// are.
    ///
    /// - Throws: ``RecordError``, with the code ``RecordError/Code/unsuitable`` if the value has no id.
    @discardableResult
    public func put<Value>(_ value: Value, in records: Records<Value>) throws -> Record<Value> {
        let part = try part(records)
        let (text, id) = try named(value, part, records)
        // Raw JSON is the whole record.
        if Value.self != JSONText.self, let shown = try part.shown(id), let known = try? records.coding.decode(shown) {
            return try write(.update(from: records.coding.encode(known), to: text), id: id, part, records)
        }
        return try write(.put(text), id: id, part, records)
    }

    /// Makes a record of the value's id, or sets the members of the value in the one that exists.
    ///
    /// Members that the value does not have stay as they are, also those of objects in it, so that fields that the type does not
    /// know are kept. A list is one value. A member that the value writes as `null` becomes `null`.
    ///
    /// - Throws: ``RecordError``, with the code ``RecordError/Code/unsuitable`` if the value has no id.
    @discardableResult
    public func createOrUpdate<Value>(_ value: Value, in records: Records<Value>) throws -> Record<Value> {
        let part = try part(records)
        let (text, id) = try named(value, part, records)
        return try write(.merge(text), id: id, part, records)
    }

    /// Deletes a record.
    ///
    /// - Throws: ``RecordError``, with the code ``RecordError/Code/noRecord`` if there is no such record.
    public func delete<Value>(_ id: String, in records: Records<Value>) throws {
        let part = try part(records)
        try part.write(.delete, id: id)
    }

    /// Returns the record of an id with the changes so far; nil if it is not known.
    ///
    /// - Throws: ``RecordError``, with the code ``RecordError/Code/undecodable`` if the record does not decode.
    public func get<Value>(_ id: String, in records: Records<Value>) throws -> Record<Value>? {
        try part(records).stored(id).map { try records.coding.decode($0) }
    }

    // MARK: Parts

    /// The parts of the transaction that have changed something.
    var changedParts: [RecordPart] {
        let changed = Set(transaction.changed)
        return parts.filter { changed.contains($0.table) }
    }

    /// Returns the part of the transaction that is about some records.
    func part<Value>(_ records: Records<Value>) throws -> RecordPart {
        guard records.pantry === pantry else {
            throw RecordError(.unsuitable, "the records belong to another pantry")
        }
        let table = try records.table(among: accounts)
        if let known = parts.first(where: { $0.table == table }) { return known }
        let attachment = try pantry.recordsAttachment(records.name)
        let part = try transaction.running {
            let number = try transaction.number(of: table, idPath: attachment.planner.rules.idPath)
            try attachment.findStampFormat(in: number, transaction.connection)
            let decisions = try RecordDecisions(transaction, table, attachment.planner) { [pantry] table in
                pantry.resource(table.resource).recordsAttachment?.planner
            }
            return try RecordPart(of: table, decisions, by: attachment)
        }
        parts.append(part)
        return part
    }

    private func named<Value>(
        _ value: Value, _ part: RecordPart, _ records: Records<Value>
    ) throws -> (text: JSONText, id: String) {
        let text = try records.coding.encode(value)
        guard let id = text[part.planner.rules.idPath]?.name, !id.isEmpty else {
            throw RecordError(.unsuitable, "the value has no id")
        }
        return (text, id)
    }

    func write<Value>(
        _ intent: RecordIntent, id: String?, _ part: RecordPart, _ records: Records<Value>
    ) throws -> Record<Value> {
        guard let stored = try part.write(intent, id: id) else { throw RecordError(WriteRefusal.noRecord) }
        do { return try records.coding.decode(stored) } catch {
            transaction.refuse(because: error)
            throw error
        }
    }
}
