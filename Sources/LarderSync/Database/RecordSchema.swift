import Larder
import LarderSystem

extension SQLiteSchema {
    /// The tables of records.
    ///
    /// - `tables`: a resource and an account in each row, with the books, the state of its pulls, and a number that grows
    ///   with each change. Row 0 belongs to the whole database: its number orders events and writes.
    /// - `records`: what the service sent (`base`), and what the user sees if that differs (`shown`). A row with a state
    ///   from ``RecordRowState/hidden`` on is not seen.
    /// - `outbox`: the writes that are not settled, each with the names of its table and its record, so that it survives the
    ///   loss of those.
    /// - `names`: the former ids of records.
    /// - `refs`: the records whose writes contain a temporary id that is not named yet.
    /// - `letters`: writes that are not sent any more.
    /// - `quarantine`: rows of the service, and rows of this database, that make no sense.
    ///
    /// The seals are checksums of a row. So damage is noticed wherever it is.
    static let records = SQLiteSchema(
        application: 0x4C61_7300, tables: recordTables, indexPrefix: RecordIndexes.prefix,
        // A pull of any size stays below 16 MB with its writing and its reading connection.
        cachedKilobytes: 4_096
    ) { connection in
        let seal = TableFacts.wholeSeal(1)
        try connection.run("INSERT INTO tables VALUES(0, '', NULL, 1, '', '', '', ?)", .integer(seal))
    }

    private static let recordTables = """
        CREATE TABLE tables(
          n INTEGER PRIMARY KEY, resource TEXT NOT NULL, scope TEXT, number INTEGER NOT NULL, books TEXT NOT NULL,
          pull TEXT NOT NULL, id_path TEXT NOT NULL, seal INTEGER NOT NULL);
        CREATE TABLE records(
          n INTEGER PRIMARY KEY, t INTEGER NOT NULL, state INTEGER NOT NULL, generation INTEGER NOT NULL,
          answered INTEGER NOT NULL, received INTEGER NOT NULL, deleted INTEGER NOT NULL, seal INTEGER NOT NULL,
          id TEXT NOT NULL, id_text TEXT, version TEXT, base TEXT, shown TEXT);
        CREATE UNIQUE INDEX records_by_id ON records(t, id);
        CREATE TABLE outbox(
          n INTEGER PRIMARY KEY, t INTEGER NOT NULL, record INTEGER NOT NULL, seal INTEGER NOT NULL,
          resource TEXT NOT NULL, scope TEXT, id TEXT NOT NULL, write TEXT NOT NULL);
        CREATE INDEX outbox_by_record ON outbox(record);
        CREATE TABLE names(
          former TEXT PRIMARY KEY, t INTEGER NOT NULL, record INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX names_by_record ON names(record);
        CREATE TABLE refs(
          temporary TEXT NOT NULL, record INTEGER NOT NULL, PRIMARY KEY(temporary, record)) WITHOUT ROWID;
        CREATE INDEX refs_by_record ON refs(record);
        CREATE TABLE letters(
          n INTEGER PRIMARY KEY, t INTEGER NOT NULL, at INTEGER NOT NULL, seal INTEGER NOT NULL, letter TEXT NOT NULL);
        CREATE INDEX letters_by_table ON letters(t, at);
        CREATE TABLE quarantine(n INTEGER PRIMARY KEY, t INTEGER NOT NULL, at INTEGER NOT NULL, text BLOB NOT NULL);
        """
}

/// The states of rows of records, as the database has them.
enum RecordRowState: Int64 {
    case synced = 0
    case pending = 1
    case conflict = 2
    case rejected = 3
    /// The user has deleted the record, and the service has not confirmed it.
    case deleted = 4
    /// Only changes of the record are known, as after a logout.
    case unknown = 5

    /// The first state of the records that nobody sees.
    static let hidden = RecordRowState.deleted

    var seen: RecordState? {
        switch self {
        case .synced: .synced
        case .pending: .pending
        case .conflict: .conflict
        case .rejected: .rejected
        case .deleted, .unknown: nil
        }
    }
}
