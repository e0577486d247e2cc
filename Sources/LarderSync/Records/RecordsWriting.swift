public import Larder

extension Pantry {
    /// Makes several changes of records in one transaction, also of different resources: all of them or none.
    ///
    /// ```swift
    /// try await pantry.write { changes in
    ///     let trip = try changes.create(Collection(name: "Osaka"), in: collections)
    ///     try changes.create(Note(collection: trip.id, text: "book!"), in: notes)
    /// }
    /// ```
    ///
    /// The body runs on a thread of Larder's that may block. It must not wait for another use of records.
    ///
    /// - Returns: the result of `body`. What it changed survives the end of the process and, unless all policies say
    ///   otherwise, a power cut.
    /// - Throws: the error of `body`; ``RecordError``; errors of the disk and the database. Nothing has changed then.
    @discardableResult
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (RecordWriter) throws -> Result
    ) async throws -> Result {
        let attachments = recordsAttachments
        guard let first = attachments.first else {
            throw RecordError(.noRecords, "no resource has a section 'records' or 'outbox'")
        }
        let durability: RecordDatabase.Durability =
            attachments.contains { $0.outbox.durability == .power } ? .power : .process
        return try await write(by: first, durability, body)
    }

    fileprivate func write<Result: Sendable>(
        by attachment: RecordsAttachment, _ durability: RecordDatabase.Durability,
        _ body: @escaping @Sendable (RecordWriter) throws -> Result
    ) async throws -> Result {
        let accounts = PresentAccounts(of: self)
        return try await attachment.writing { [self] database in
            do {
                let (result, changed) = try database.changing(durability) { transaction in
                    let writer = RecordWriter(self, transaction, for: accounts)
                    return (try transaction.runningApp { try body(writer) }, writer.changedParts)
                }
                for part in changed { part.attachment.remember(part) }
                return result
            } catch let failure as AppFailure { throw failure.error }
        }
    }
}

extension Records {
    /// Makes a record: see ``RecordWriter/create(_:in:)-(Value,Records<Value>)``.
    ///
    /// - Returns: the record, with its id.
    @discardableResult
    public func create(_ value: Value) async throws -> Record<Value> {
        try await write { try $0.create(value, in: $1) }
    }

    /// Changes a record: see ``RecordWriter/update(_:in:_:)``.
    ///
    /// - Parameters:
    ///   - id: the id. A former temporary id finds its record.
    ///   - change: changes the value. It runs on a thread of Larder's that may block.
    @discardableResult
    public func update(
        _ id: String, _ change: @escaping @Sendable (inout Value) throws -> Void
    ) async throws -> Record<Value> {
        try await write { try $0.update(id, in: $1, change) }
    }

    /// Makes the record of the value's id be this: see ``RecordWriter/put(_:in:)``.
    @discardableResult
    public func put(_ value: Value) async throws -> Record<Value> {
        try await write { try $0.put(value, in: $1) }
    }

    /// Makes a record of the value's id, or merges the value into the one that exists: see
    /// ``RecordWriter/createOrUpdate(_:in:)``.
    @discardableResult
    public func createOrUpdate(_ value: Value) async throws -> Record<Value> {
        try await write { try $0.createOrUpdate(value, in: $1) }
    }

    /// Deletes a record: see ``RecordWriter/delete(_:in:)``.
    public func delete(_ id: String) async throws {
        try await write { try $0.delete(id, in: $1) }
    }

    /// Takes back the last change of a record that was never sent.
    ///
    /// Edits of a record that were never sent are one change, so all of them are taken back together: the record is then as it
    /// was before the first of them, and a record that was made and edited is gone. With `"merge": false` in the section
    /// `outbox`, each edit is a change of its own. An edit after a change that may have reached the service is a change of its
    /// own, too.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func undo(_ id: String) async throws -> Bool {
        try await write { writer, records in
            let part = try writer.part(records)
            let row = try part.row(id)
            guard let write = row?.writes.last, !write.isFrozen else { return false }
            return try part.decide { try $0.undo(write.number, of: id) }
        }
    }

    /// Takes over records that an app has kept before, as if the service had sent them. Nothing is queued. Records that are
    /// there already stay as they are.
    ///
    /// The records belong to the source that the policy names now. The next complete pull corrects them.
    ///
    /// - Returns: the number of records that were taken over.
    /// - Throws: ``RecordError``, with the code ``RecordError/Code/unsuitable`` if a value has no id.
    @discardableResult
    public func importing(_ values: [Value]) async throws -> Int {
        try await write { writer, records in
            let part = try writer.part(records)
            let idPath = part.planner.rules.idPath
            let pulled = try values.map { value in
                let text = try records.coding.encode(value)
                guard let idText = text[idPath], let id = idText.name, !id.isEmpty, !TemporaryID.isOne(id) else {
                    throw RecordError(.unsuitable, "a value has no id of the service")
                }
                return PulledRecord(id: id, idText: idText, record: text)
            }
            return try part.decide { try $0.importBase(pulled) }
        }
    }

    /// Runs a transaction about these records.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (RecordWriter, Records) throws -> Result
    ) async throws -> Result {
        // The account is that at the time of the call.
        let (attachment, records) = (try attachment(), try ofPresentAccount)
        return try await pantry.write(by: attachment, attachment.outbox.durability) { try body($0, records) }
    }
}
