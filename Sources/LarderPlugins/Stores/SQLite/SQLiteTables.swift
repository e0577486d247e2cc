import LarderSystem

extension SQLiteSchema {
    /// The tables of the store.
    ///
    /// - `entries`: the entries. New ones get increasing row numbers, which are never used again, so that rows are added at
    ///   the end of the table.
    /// - `tags`: the digests of the entries' tags.
    /// - `uses`: how often entries were read, and when.
    /// - `removals`: what was removed lately, for other processes.
    /// - `totals`: the numbers of all entries, in a single row.
    static let entries = SQLiteSchema(application: 0x4C61_7200, tables: entryTables) { try SQLiteTotals().save($0) }

    private static let entryTables = """
        CREATE TABLE entries(
          id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, at INTEGER NOT NULL, size INTEGER NOT NULL,
          state INTEGER NOT NULL, file INTEGER, head BLOB NOT NULL, payload BLOB NOT NULL);
        CREATE INDEX entries_by_hash ON entries(hash);
        CREATE UNIQUE INDEX entries_by_file ON entries(file) WHERE file IS NOT NULL;
        CREATE TABLE tags(tag INTEGER, entry INTEGER, PRIMARY KEY(tag, entry)) WITHOUT ROWID;
        CREATE TABLE uses(entry INTEGER PRIMARY KEY, at INTEGER NOT NULL, count INTEGER NOT NULL);
        CREATE TABLE removals(
          id INTEGER PRIMARY KEY AUTOINCREMENT, process INTEGER NOT NULL, at INTEGER NOT NULL, kind INTEGER NOT NULL,
          text BLOB NOT NULL);
        CREATE TABLE totals(
          id INTEGER PRIMARY KEY, next INTEGER NOT NULL, entries INTEGER NOT NULL, size INTEGER NOT NULL,
          pinned_entries INTEGER NOT NULL, pinned_size INTEGER NOT NULL, seal INTEGER NOT NULL);
        """
}
