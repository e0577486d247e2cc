import Larder
public import LarderSystem

/// A change that is not sent any more: the service refused it, or somebody else's change has overtaken it. It is kept for 90
/// days, also over restarts, so that it can be made again.
public struct UnsentChange<Value: Sendable>: Sendable {
    /// The reasons for which a change is not sent any more. New ones may be added.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        /// The name of the reason.
        public let rawValue: String

        /// Creates a reason.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The service refused it.
        public static var rejected: Reason { Reason(rawValue: DeadLetter.Reason.rejected.rawValue) }
        /// It waited longer than `retention` of the section `outbox`.
        public static var expired: Reason { Reason(rawValue: DeadLetter.Reason.expired.rawValue) }
        /// Somebody else has changed the same, or deleted the record.
        public static var overtaken: Reason { Reason(rawValue: DeadLetter.Reason.overtaken.rawValue) }
        /// It needs a record whose create was refused.
        public static var needsRejected: Reason { Reason(rawValue: DeadLetter.Reason.needsRejected.rawValue) }
    }

    /// The id of the record.
    public let id: String
    /// The kind of the change.
    public let kind: PushedChange.Kind
    /// The record as the user saw it with the change; nil if the change deleted it, or if the record does not decode.
    public let value: Value?
    /// The reason for which it is not sent any more.
    public let reason: Reason
    /// The status by which the service refused it; nil if there was none.
    public let status: Int?
    /// The number of the letter on this device. Later ones have larger ones.
    public let number: Int64
    /// The number that the change had while it waited: see ``WaitingChange/number``.
    public let changeNumber: Int64
    /// The time at which the change was made, by the device's clock.
    public let madeAt: Timestamp
    /// The number of times it was sent.
    public let tries: Int
    /// The change as it was kept, for a pusher. Made again, it gets another key, and the version that the record has then.
    public let pushed: PushedChange
    private let records: Records<Value>

    fileprivate init(_ letter: DeadLetter, number: Int64, of records: Records<Value>, by rules: SyncRules) {
        (id, reason, status) = (letter.id, Reason(rawValue: letter.reason.rawValue), letter.status)
        pushed = PushedChange(letter, by: rules)
        kind = pushed.kind
        (changeNumber, tries) = (letter.write.number, letter.write.tries)
        madeAt = Timestamp(milliseconds: letter.write.made)
        value = letter.shown.flatMap { try? records.coding.decode($0) }
        (self.number, self.records) = (number, records)
    }

    /// Makes the change again, on top of what the record is now, and sends it.
    ///
    /// A record that is gone is made again as the user saw it. If the service names records, it gets a new id then.
    ///
    /// - Parameter correction: corrects the record first, so that the service takes it. It runs on a thread of Larder's that
    ///   may block.
    /// - Returns: the record; nil if the change deletes it, or if the change was restored or discarded before.
    /// - Throws: ``RecordError``, with the code ``RecordError/Code/noRecord`` if the record is gone and the change alone makes
    ///   none; the error of `correction`. The change stays kept then.
    @discardableResult
    public func restore(
        _ correction: @escaping @Sendable (inout Value) throws -> Void = { _ in }
    ) async throws -> Record<Value>? {
        try await records.write { [number] writer, records in
            let part = try writer.part(records)
            guard let letter = try part.takeLetter(number) else { return nil }
            return try writer.restore(letter, part, records, correction)
        }
    }

    /// Forgets the change.
    ///
    /// - Throws: ``RecordError``.
    public func discard() async throws {
        try await records.write { [number] writer, records in
            _ = try writer.part(records).takeLetter(number)
        }
    }
}

extension Records {
    /// The changes that are not sent any more, the latest first: those that the service refused, and those that others have
    /// overtaken. At most 1,000.
    ///
    /// ```swift
    /// for change in try await collections.rejected() { try await change.restore { $0.name += " (2)" } }
    /// ```
    public func rejected() async throws -> [UnsentChange<Value>] {
        let (attachment, records) = (try attachment(), try ofPresentAccount)
        let table = try records.table()
        let letters = try await attachment.reading { database in try database.letters(of: table) }
        let rules = attachment.planner.rules
        return letters.map { UnsentChange($0.letter, number: $0.number, of: records, by: rules) }
    }
}

extension RecordWriter {
    fileprivate func restore<Value>(
        _ letter: DeadLetter, _ part: RecordPart, _ records: Records<Value>,
        _ correction: (inout Value) throws -> Void
    ) throws -> Record<Value>? {
        let present = try part.shown(letter.id)
        if letter.write.kind == .delete {
            if present != nil { try part.write(.delete, id: letter.id) }
            return nil
        }
        if present == nil, letter.write.kind == .update, letter.reason == .needsRejected {
            // The letter of the create, which this one followed, has its change in the record.
            if try part.hasLetterOfCreate(letter.id) { return nil }
            throw RecordError(.noRecord, "the record that the change is about was never made")
        }
        guard let wanted = present.map({ letter.write.patched($0) }) ?? letter.shown else {
            throw RecordError(.noRecord, "the record that the change is about is gone, and the change alone makes none")
        }
        let known = try records.coding.decode(wanted)
        var value = known
        try correction(&value)
        // Fields that the type does not know stay as the user saw them.
        let text = Patch(
            from: try records.coding.encode(known), to: try records.coding.encode(value), shown: wanted, ignoring: []
        ).applied(to: wanted)
        if let present { return try write(.update(from: present, to: text), id: letter.id, part, records) }
        let rules = part.planner.rules
        if rules.ids == .server {
            return try write(.create(text.setting(rules.idPath, to: nil)), id: nil, part, records)
        }
        return try write(.create(text), id: letter.id, part, records)
    }
}

extension PushedChange {
    fileprivate init(_ letter: DeadLetter, by rules: SyncRules) {
        let known = letter.shown?[rules.idPath] ?? letter.base?[rules.idPath]
        let version = letter.write.sentVersion ?? rules.versionPath.flatMap { letter.base?[$0] }
        self.init(
            letter.write, of: known ?? JSONText(string: letter.id), version: version?.kind == .null ? nil : version,
            shown: letter.shown, by: rules)
        // It is made again for whatever source the policy has then.
        source = nil
    }
}

extension QueuedWrite {
    /// Returns a record that is there with the change.
    fileprivate func patched(_ present: JSONText) -> JSONText { content ?? patch.applied(to: present) }
}

extension RecordPart {
    /// Returns whether the create of a record is kept as a letter.
    fileprivate func hasLetterOfCreate(_ id: String) throws -> Bool {
        try decide { decisions in
            var isThere = false
            try decisions.transaction.connection.each(
                "SELECT letter FROM letters WHERE t=?", [.integer(decisions.number)]
            ) { row in
                let letter = (try? JSONText(row.text(0).utf8)).flatMap(DeadLetter.init)
                isThere = letter.map { $0.write.kind == .create && $0.id.utf8.elementsEqual(id.utf8) } ?? false
                return !isThere
            }
            return isThere
        }
    }

    /// Takes a letter out of the database; nil if there is none of this number.
    fileprivate func takeLetter(_ number: Int64) throws -> DeadLetter? {
        try decide { decisions in
            let connection = decisions.transaction.connection
            let text = try connection.first(
                "SELECT letter FROM letters WHERE n=? AND t=?", .integer(number), .integer(decisions.number)
            ) { $0.text(0) }
            guard let letter = text.flatMap({ (try? JSONText($0.utf8)).flatMap(DeadLetter.init) }) else { return nil }
            try connection.run("DELETE FROM letters WHERE n=?", .integer(number))
            try decisions.transaction.note(changeOf: decisions.number)
            return letter
        }
    }
}
