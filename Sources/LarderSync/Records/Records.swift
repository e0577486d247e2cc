public import Larder

/// The records of a resource: read at once from this device, changed offline, and brought together with the service.
///
/// ```swift
/// let collections = pantry.records("collections", of: Collection.self)
/// let made = try await collections.create(Collection(name: "Ramen"))
/// try await collections.update(made.id) { $0.name = "Ramen & Udon" }
/// let mine = try await collections.query(Query(Collection.owner == me).limit(50))
/// ```
///
/// The policy of the resource has a section `records`. Reading never waits for the network: what an app sees is what the
/// service has sent, with the user's own changes on it. A change that returned survives the end of the process and, unless
/// the section `outbox` says otherwise, a power cut.
///
/// A handle names a resource, not its policy. So it can be kept, and it follows when policies are reloaded.
///
/// All methods throw ``RecordError``, with the code ``RecordError/Code/noRecords`` if the resource has no records, and
/// ``RecordError/Code/notSignedIn`` if its origin works for an account and nobody is signed in. Errors of the disk and the
/// database are thrown as they are.
public struct Records<Value: Sendable>: Sendable {
    /// The name of the resource.
    public let name: String
    let pantry: Pantry
    let coding: RecordCoding<Value>
    private var owner: Owner

    /// The account that the records belong to.
    private enum Owner {
        /// The account in whose name the origin signs its calls, or none.
        case present
        /// A table that is known.
        case table(RecordTable)
    }

    fileprivate init(_ name: String, _ pantry: Pantry, scope: String?, _ coding: RecordCoding<Value>) {
        (self.name, self.pantry, self.coding) = (name, pantry, coding)
        owner = scope.map { .table(RecordTable(resource: name, scope: $0)) } ?? .present
    }

    /// The same records, also if somebody else signs in.
    ///
    /// - Throws: ``RecordError`` if the origin works for an account, and nobody is signed in.
    var ofPresentAccount: Records {
        get throws(RecordError) {
            var records = self
            records.owner = .table(try table())
            return records
        }
    }

    /// Returns the table of the account.
    ///
    /// - Throws: ``RecordError`` if the origin works for an account, and nobody is signed in.
    func table() throws(RecordError) -> RecordTable {
        if case .table(let table) = owner { return table }
        let resource = pantry.resource(name)
        if let scope = resource.request().key.scope { return RecordTable(resource: name, scope: scope) }
        if (try? resource.lacksAccount) == true {
            throw RecordError(.notSignedIn, "the origin of '\(name)' works for an account, and nobody is signed in")
        }
        // Somebody may have signed in meanwhile.
        return RecordTable(resource: name, scope: resource.request().key.scope)
    }

    /// Returns the part that keeps the records.
    ///
    /// - Throws: ``RecordError`` if the resource has none.
    func attachment() throws(RecordError) -> RecordsAttachment { try pantry.recordsAttachment(name) }

    /// Returns the table of the account that was signed in when a transaction began.
    ///
    /// - Throws: ``RecordError`` if nobody was.
    func table(among accounts: PresentAccounts) throws(RecordError) -> RecordTable {
        if case .table(let table) = owner { return table }
        guard let table = accounts.tables[name] else { return try table() }
        return try table.get()
    }
}

extension Pantry {
    /// Returns a handle for the records of a resource.
    ///
    /// - Parameters:
    ///   - name: the name of the resource.
    ///   - type: the type of the values.
    ///   - scope: the account that the records belong to; nil for none, or for the account in whose name the policy's origin
    ///     signs its calls. Two accounts never see each other's records.
    ///   - format: the settings of the JSON, for both encoding and decoding; nil for the default ones.
    public func records<Value: Codable & Sendable>(
        _ name: String, of type: Value.Type, scope: String? = nil, format: (any JSONFormat.Type)? = nil
    ) -> Records<Value> {
        Records(name, self, scope: scope, RecordCoding(format: format))
    }

    /// Returns a handle for the records of a resource as JSON, with the bytes that the service sent.
    ///
    /// - Parameters:
    ///   - name: the name of the resource.
    ///   - scope: the account that the records belong to; nil for none, or for the account in whose name the policy's origin
    ///     signs its calls.
    public func records(_ name: String, scope: String? = nil) -> Records<JSONText> {
        Records(name, self, scope: scope, RecordCoding())
    }
}

extension Pantry {
    /// The parts that keep records, or requests that are sent later.
    var recordsAttachments: [RecordsAttachment] { resources.compactMap { resource($0).recordsAttachment } }

    /// Returns the part that keeps the records of a resource.
    ///
    /// - Throws: ``RecordError`` if the resource has none.
    func recordsAttachment(_ name: String) throws(RecordError) -> RecordsAttachment {
        guard let attachment = resource(name).recordsAttachment else {
            throw RecordError(.noRecords, "resource '\(name)' has no section 'records' or 'outbox'")
        }
        return attachment
    }
}

/// The tables of the accounts that are signed in at one moment, by resource. A transaction keeps them, so that nobody's
/// changes reach another account when somebody else signs in before it ends.
struct PresentAccounts: Sendable {
    let tables: [String: Result<RecordTable, RecordError>]

    init(of pantry: Pantry) {
        let names = pantry.resources.filter { pantry.resource($0).recordsAttachment != nil }
        tables = Dictionary(
            uniqueKeysWithValues: names.map { name in
                (name, Result { () throws(RecordError) in try pantry.records(name).table() })
            })
    }
}
