import Foundation
import Testing

@testable import LarderSystem

/// The file of a database, without a store: its form, and what is saved of it when it is damaged.
@Suite struct SQLiteFileTests {
    private let folder: Folder
    private var path: String { folder.path + "/sub/a.sqlite" }

    init() throws { folder = try Folder() }

    private static let first = "CREATE TABLE notes(id INTEGER PRIMARY KEY, title TEXT);"
    private static let second = """
        CREATE TABLE notes(id INTEGER PRIMARY KEY, title TEXT, size INTEGER NOT NULL);
        CREATE TABLE extra(id INTEGER PRIMARY KEY);
        """

    private func open(_ schema: SQLiteSchema, salvage: SQLiteFile.Salvage? = nil) -> SQLiteFile {
        SQLiteFile(
            path, schema, makeFolder: { [path] in try Disk.makeFolder(Disk.split(path).folder) }, salvage: salvage)
    }

    private static let one = SQLiteSchema(application: 0x4E6F_7400, tables: first, indexPrefix: "own_") {
        try $0.run("INSERT INTO notes(title) VALUES(?)", .text("welcome"))
    }

    private static let two = SQLiteSchema(
        application: 0x4E6F_7400, tables: second, indexPrefix: "own_",
        migrations: [
            { connection in
                try connection.run("ALTER TABLE notes RENAME TO former")
                try connection.run(second)
                try connection.run("INSERT INTO notes SELECT id, title, length(title) FROM former")
                try connection.run("DROP TABLE former")
            }
        ])

    private func titles(_ file: SQLiteFile) throws -> [String] {
        try file.reading { connection in
            var titles: [String] = []
            try connection.each("SELECT title FROM notes ORDER BY id") {
                titles.append($0.text(0))
                return true
            }
            return titles
        }
    }

    private func add(_ title: String, to file: SQLiteFile) throws {
        try file.writing { connection in
            try connection.transaction { try connection.run("INSERT INTO notes(title) VALUES(?)", .text(title)) }
        }
    }

    // MARK: Form

    @Test func newFileHasTablesAndFirstRows() throws {
        let file = open(Self.one)
        #expect(try titles(file) == ["welcome"])
        try add("b", to: file)
        file.close()
        #expect(throws: SQLiteFailure.closed) { try add("c", to: file) }
        #expect(throws: SQLiteFailure.closed) { try titles(file) }
        #expect(try titles(open(Self.one)) == ["welcome", "b"])
    }

    @Test func earlierFormIsBroughtForwardOnce() throws {
        let former = open(Self.one)
        try add("b", to: former)
        former.close()
        for _ in 1...2 {
            let file = open(Self.two)
            #expect(try titles(file) == ["welcome", "b"])
            #expect(try file.reading { try $0.first("SELECT sum(size) FROM notes") { $0.integer(0) } } == 8)
            file.close()
        }
        #expect(Disk.item(path + "-damaged") == nil)
    }

    @Test func databaseOfLaterVersionIsLeftAsItIs() throws {
        let later = open(Self.two)
        _ = try titles(later)
        _ = try later.writing { try later.copyLog($0, .whole) }
        later.close()
        let bytes = try Disk.read(path, limit: 1 << 20)
        let file = open(Self.one)
        #expect(throws: SQLiteFailure.madeLater) { try titles(file) }
        #expect(throws: SQLiteFailure.madeLater) { try add("b", to: file) }
        #expect(try Disk.read(path, limit: 1 << 20) == bytes)
        #expect(Disk.item(path + "-damaged") == nil)
    }

    @Test func migrationThatFailsHalfwayChangesNothing() throws {
        _ = try titles(open(Self.one))
        let failing = SQLiteSchema(
            application: 0x4E6F_7400, tables: Self.second,
            migrations: [
                { connection in
                    try connection.run("DROP TABLE notes")
                    throw SQLiteFailure.full
                }
            ])
        #expect(throws: SQLiteFailure.full) { try titles(open(failing)) }
        #expect(try titles(open(Self.one)) == ["welcome"])
    }

    @Test func indexesWithThePrefixMayBeThereAndOthersAreDamage() throws {
        let file = open(Self.one)
        try file.writing { try $0.run("CREATE INDEX own_titles ON notes(title)") }
        file.close()
        #expect(try titles(open(Self.one)) == ["welcome"])
        try SQLiteConnection(path).run("CREATE INDEX other_titles ON notes(title)")
        #expect(throws: SQLiteFailure.damaged) { try titles(open(Self.one)) }
    }

    @Test func indexWithThePrefixThatRefusesRowsIsDamage() throws {
        _ = try titles(open(Self.one))
        try SQLiteConnection(path).run("CREATE UNIQUE INDEX own_titles ON notes(title)")
        #expect(throws: SQLiteFailure.damaged) { try titles(open(Self.one)) }
    }

    @Test func tableWithThePrefixOfIndexesIsDamage() throws {
        _ = try titles(open(Self.one))
        try SQLiteConnection(path).run("CREATE TABLE own_titles(id)")
        #expect(throws: SQLiteFailure.damaged) { try titles(open(Self.one)) }
    }

    // MARK: Damage

    @Test func refusedStatementIsDamageUnlessTheOwnerSaysOtherwise() throws {
        let deep = "SELECT 1 FROM notes WHERE " + String(repeating: "(", count: 5_000) + "1"
        func check(_ areDamage: Bool, _ expected: (any Error) -> Bool) throws {
            let file = SQLiteFile(
                path, Self.one, refusalsAreDamage: areDamage,
                makeFolder: { [path] in try Disk.makeFolder(Disk.split(path).folder) })
            for sql in [deep, "SELECT nothing FROM notes", "INSERT INTO notes VALUES(1, 'a'), (1, 'b')"] {
                let error = #expect(throws: SQLiteFailure.self) { try file.writing { try $0.run(sql) } }
                #expect(error.map { expected($0) } == true)
                let reading = #expect(throws: SQLiteFailure.self) { try file.reading { try $0.run(sql) } }
                #expect(reading.map { sql.hasPrefix("INSERT") || expected($0) } == true)
            }
            #expect((Disk.item(path + "-damaged") != nil) == areDamage)
        }
        try check(false) { ($0 as? SQLiteFailure)?.isRefusal == true }
        #expect(try titles(open(Self.one)) == ["welcome"])
        try check(true) { $0 as? SQLiteFailure == .damaged }
    }

    /// Copies the notes one by one, as far as they can be read.
    private static let copy: SQLiteFile.Salvage = { damaged, new in
        for id in 1...100 {
            let title = try? damaged.first("SELECT title FROM notes WHERE id=?", .integer(id)) { $0.text(0) }
            if let title {
                try new.run(
                    "INSERT OR REPLACE INTO notes(id, title) VALUES(?, ?)", .integer(id), .text(title))
            }
        }
    }

    private func isolated(_ text: String) -> String { text + String(repeating: ".", count: 3_000) }

    /// Makes a database of which the pages of some notes are damaged.
    private func makeDamaged() throws {
        let file = open(Self.one)
        for number in 2...40 { try add(isolated("note \(number)"), to: file) }
        _ = try file.writing { try file.copyLog($0, .whole) }
        // These are in the log only.
        for number in 41...42 { try add(isolated("note \(number)"), to: file) }
        file.close()
        try destroy("note 20.")
    }

    /// Overwrites the page of the database that has a text.
    private func destroy(_ text: String) throws {
        var data = try Data(contentsOf: URL(filePath: path))
        let place = try #require(data.firstRange(of: Data(text.utf8))).lowerBound / 4_096 * 4_096
        data.replaceSubrange(place..<place + 4_096, with: Data(repeating: 0xFF, count: 4_096))
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.write(contentsOf: data)
        try handle.close()
    }

    @Test func readableRowsOfDamagedFileAreInTheNewOne() throws {
        try makeDamaged()
        let file = open(Self.one, salvage: Self.copy)
        #expect(throws: SQLiteFailure.damaged) { try titles(file) }
        // The first change after that sets the file aside.
        try add("new", to: file)
        let expected =
            ["welcome"] + ((2...19).map { $0 } + (21...42).map { $0 }).map { isolated("note \($0)") } + ["new"]
        #expect(try titles(file) == expected)
        #expect(Disk.item(path + "-damaged") != nil)
        #expect(Disk.item(path + "-rescued") == nil)
        #expect(try titles(open(Self.one)) == expected)
    }

    /// The first page has the header of the file and the descriptions of the tables.
    @Test(arguments: [0, 20, 68, 103, 110, 3_900, 4_090]) func rowsAreSavedAlthoughTheFirstPageIsDamaged(_ place: Int)
        throws
    {
        let file = open(Self.one)
        for number in 2...40 { try add(isolated("note \(number)"), to: file) }
        _ = try file.writing { try file.copyLog($0, .whole) }
        try add(isolated("note 41"), to: file)
        file.close()
        let flipped = try Disk.read(path, limit: 1 << 20)[place] ^ 0x10
        try Disk.overwrite(path, at: place, with: [flipped], modified: 0)
        let again = open(Self.one, salvage: Self.copy)
        for _ in 1...2 where (try? add("new", to: again)) != nil { break }
        #expect(try titles(again) == ["welcome"] + (2...41).map { isolated("note \($0)") } + ["new"])
        #expect(Disk.item(path + "-first-page") == nil)
    }

    @Test func nothingIsCopiedOfFileThatIsNoDatabase() throws {
        _ = try titles(open(Self.one))
        try Disk.remove(path + "-wal")
        try Data(repeating: 1, count: 10_000).write(to: URL(filePath: path))
        let file = open(Self.one, salvage: Self.copy)
        try add("new", to: file)
        #expect(try titles(file) == ["welcome", "new"])
        #expect(Disk.item(path + "-damaged")?.size == 10_000)
    }

    @Test func rescuedRowsAreUsedWhenProcessEndsBeforeTheyTookTheirPlace() throws {
        try makeDamaged()
        let file = open(Self.one, salvage: Self.copy)
        #expect(throws: SQLiteFailure.damaged) { try titles(file) }
        try add("new", to: file)
        _ = try file.writing { try file.copyLog($0, .whole) }
        file.close()
        // As if the process had ended between the two moves.
        try Disk.move(path, to: path + "-rescued")
        #expect(try titles(open(Self.one, salvage: Self.copy)).last == "new")
        #expect(Disk.item(path + "-rescued") == nil)
    }

    @Test func damagedFileStaysWhenDiskIsTooFullToCopyItsRows() throws {
        try makeDamaged()
        let file = open(Self.one) { _, _ in throw SQLiteFailure.full }
        #expect(throws: SQLiteFailure.damaged) { try titles(file) }
        // A change would set the file aside.
        for number in 1...2 { _ = try? add("\(number)", to: file) }
        #expect(Disk.item(path + "-damaged") == nil)
        file.close()
        let again = open(Self.one, salvage: Self.copy)
        #expect(throws: SQLiteFailure.damaged) { try titles(again) }
        try add("new", to: again)
        let found = try titles(again)
        #expect(found.starts(with: ["welcome", isolated("note 2")]) && found.last == "new" && found.count >= 42)
    }

    @Test(arguments: [5, 7, 10, 14, 778, 3_338]) func damagedFileStaysWhenItsRowsCannotBeCopiedNow(_ code: Int32) throws
    {
        try makeDamaged()
        try Data("of an earlier time".utf8).write(to: URL(filePath: path + "-damaged"))
        let file = open(Self.one) { _, _ in throw SQLiteFailure(code: code) }
        #expect(throws: SQLiteFailure.damaged) { try titles(file) }
        for number in 1...2 {
            #expect(throws: SQLiteFailure(code: code)) { try add("\(number)", to: file) }
        }
        file.close()
        #expect(try Data(contentsOf: URL(filePath: path + "-damaged")) == Data("of an earlier time".utf8))
        let again = open(Self.one, salvage: Self.copy)
        #expect(throws: SQLiteFailure.damaged) { try titles(again) }
        try add("new", to: again)
        #expect(try titles(again).count == 42)
    }

    @Test func damagedFileStaysWhileAnotherProcessChangesIt() throws {
        try makeDamaged()
        let other = try SQLiteConnection(path)
        try other.run("BEGIN IMMEDIATE")
        let file = open(Self.one, salvage: Self.copy)
        #expect(throws: SQLiteFailure.damaged) { try titles(file) }
        let failure = #expect(throws: SQLiteFailure.self) { try add("new", to: file) }
        #expect(failure?.isBusy == true)
        #expect(Disk.item(path + "-damaged") == nil)
        try other.run("ROLLBACK")
        try add("new", to: file)
        #expect(try titles(file).count == 42)
    }

    @Test func rowsThatAreNotAllSavedNeverTakeThePlaceOfTheDatabase() throws {
        try makeDamaged()
        let file = open(Self.one) { [path] damaged, new in
            try Self.copy(damaged, new)
            // If the process ended now, this name would be taken for a whole file.
            #expect(Disk.item(path + "-rescued") == nil)
        }
        #expect(throws: SQLiteFailure.damaged) { try titles(file) }
        try add("new", to: file)
        #expect(try titles(file).count == 42)
        #expect(Disk.item(path + "-rescuing") == nil)
    }

    @Test func savedRowsOfARemovedOrPresentDatabaseDoNotComeBack() throws {
        let file = open(Self.one, salvage: Self.copy)
        try add("b", to: file)
        _ = try file.writing { try file.copyLog($0, .whole) }
        try Data(contentsOf: URL(filePath: path)).write(to: URL(filePath: path + "-rescued"))
        try file.remove()
        #expect(Disk.item(path + "-rescued") == nil)
        #expect(try titles(file) == ["welcome"])
        file.close()
        // A process has ended before it set the damaged file aside.
        try Data("rows".utf8).write(to: URL(filePath: path + "-rescued"))
        let again = open(Self.one, salvage: Self.copy)
        #expect(try titles(again) == ["welcome"])
        #expect(Disk.item(path + "-rescued") == nil)
    }
}
