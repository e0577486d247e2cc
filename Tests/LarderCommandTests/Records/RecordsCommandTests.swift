import LarderFoundation
import Larder
import LarderSync
import LarderSystem
import Testing

@testable import LarderCommand

/// `larder records` beside an app.
@Suite(.timeLimit(.minutes(5))) struct RecordsCommandTests {
    @Test func nothingIsMadeWhereThereIsNothing() async throws {
        let tool = try RecordsTool()
        for words in [
            ["records", "ls", "collections"], ["records", "verify"], ["sync", "status"], ["outbox", "ls"],
            ["outbox", "export"],
        ] {
            let output = await tool.run(words)
            #expect(output.code == 0, "\(words): \(output)")
            let isTold = (output.out + output.err).contains("no records yet") || output.err.contains("nothing waits")
            #expect(isTold || words == ["outbox", "export"], "\(words): \(output)")
            #expect(output.err.contains("there is no folder \(tool.data)"), "\(words): \(output)")
        }
        #expect(await tool.run("records", "get", "collections", "id-1").out == "unknown: there are no records yet\n")
        #expect(!Disk.isThere(tool.data) && tool.service.calls == 0)
    }

    @Test func recordsAreListedWithoutTheirValues() async throws {
        let tool = try RecordsTool()
        #expect(await tool.run("sync", "run", "collections").code == 0)
        try await tool.make("secret new")
        let list = await tool.run("records", "ls", "collections")
        #expect(list.code == 0 && list.err == "collections: 4 records\n", "\(list)")
        let lines = list.out.split(separator: "\n")
        #expect(lines.count == 5 && lines.count { $0.contains("synced") } == 3, "\(list.out)")
        #expect(lines.last?.hasSuffix("waiting    –") == true, "\(list.out)")
        for words in [[], ["--json"]] {
            let output = await tool.run(["records", "ls", "collections"] + words)
            #expect(!output.out.contains("id-1") && !output.out.contains("secret"), "\(output)")
        }
        let shown = await tool.run("records", "ls", "collections", "--values", "--limit", "2")
        #expect(shown.out.contains("id-1") && shown.out.contains("secret 1") && !shown.out.contains("id-3"), "\(shown)")
        #expect(shown.err == "collections: 2 of 4 records; --limit shows more\n")
        let facts = try Facts(await tool.run("records", "ls", "collections", "--values", "--json").out)
        let account = facts["accounts"].items[0]
        #expect(account["records"].int == 4 && account["complete"].isTrue)
        #expect(account["listed"].items[0]["value"]["name"].string == "secret 0")
        #expect(account["listed"].items[3]["temporary"].isTrue)
    }

    @Test func recordIsFoundByItsIDAndByItsDigest() async throws {
        let tool = try RecordsTool()
        #expect(await tool.run("records", "get", "collections", "id-2").code == 1)
        _ = await tool.run("sync", "run", "collections")
        try await tool.app { pantry in
            try await pantry.records("collections").update("id-2") {
                $0 = $0.setting(["name"], to: JSONText(string: "mine"))
            }
        }
        let found = await tool.run("records", "get", "collections", "id-2")
        #expect(found.code == 0 && found.out.contains("state     waiting\n"), "\(found)")
        #expect(found.out.contains("(update); 'larder outbox explain' says why"), "\(found)")
        #expect(!found.out.contains("mine"))
        let digest = String(found.out.split(separator: "\n")[0].split(separator: " ")[1])
        #expect(digest.count == 12)
        let same = await tool.run("records", "get", "collections", String(digest.prefix(6)), "--values", "--json")
        let facts = try Facts(same.out)["records"].items[0]
        #expect(facts["id"].string == "id-2" && facts["value"]["name"].string == "mine", "\(same)")
        #expect(facts["waiting"].items.count == 1)
        let absent = await tool.run("records", "get", "collections", "id-9")
        #expect(
            absent.code == 1
                && absent.out == "absent: a complete pull has shown that there is none, or it was deleted\n")
    }

    @Test func recordIsUnknownBeforeTheFirstCompletePull() async throws {
        let tool = try RecordsTool()
        try await tool.make("new")
        let unknown = await tool.run("records", "get", "collections", "id-1", "--json")
        #expect(unknown.code == 1)
        #expect(try Facts(unknown.out)["found"].string == "unknown")
        #expect(await tool.run("records", "ls", "collections").err.contains("not everything was fetched yet"))
    }

    @Test func lookingChangesNothingBesideTheRunningApp() async throws {
        let tool = try RecordsTool()
        _ = await tool.run("sync", "run", "collections")
        try await tool.app { pantry in
            try await pantry.records("collections").create(JSONText(["name": "new"]))
            let calls = tool.service.calls
            let before = try tool.contents()
            for words in [
                ["records", "ls", "collections"], ["records", "get", "collections", "id-1"], ["records", "verify"],
                ["sync", "status"], ["outbox", "ls"], ["outbox", "show", "3"], ["outbox", "export"],
            ] {
                let output = await tool.run(words)
                #expect(output.code == 0 || words.contains("show"), "\(words): \(output)")
            }
            #expect(try tool.contents() == before)
            #expect(tool.service.calls == calls)
            // The app goes on.
            #expect(try await pantry.records("collections").count() == 4)
        }
    }

    @Test func indexesOfTheAppStay() async throws {
        let tool = try RecordsTool()
        try tool.folder.edit("collections.json", #""id": "/id","#, #""id": "/id", "indexes": [["name"]],"#)
        let pantry = try await Pantry(
            policies: tool.folder.url, registry: .shipped, cache: tool.folder.url.appending(path: "cache"),
            data: URL(filePath: tool.data), environment: [:])
        try await pantry.records("collections").sync()
        await pantry.close()
        let before = try tool.indexes()
        try tool.folder.edit("collections.json", #""indexes": [["name"]],"#, "")
        for words in [["records", "ls", "collections"], ["sync", "run", "collections"]] {
            #expect(await tool.run(words).code == 0)
        }
        #expect(try tool.indexes() == before && before.contains { $0.contains("name") })
    }

    @Test func idOfTwoAccountsIsInOneDocument() async throws {
        let tool = try RecordsTool()
        try await tool.app { pantry in
            for scope in [nil, "alice"] { try await pantry.records("collections", scope: scope).sync() }
        }
        let output = await tool.run("records", "get", "collections", "id-1", "--json")
        let both = try Facts(output.out)
        #expect(both["found"].string == "found" && both["records"].items.count == 2, "\(output)")
    }

    @Test func accountsAreNamedByDigests() async throws {
        let tool = try RecordsTool()
        try await tool.app { pantry in
            for scope in ["alice", "bob"] {
                try await pantry.records("collections", scope: scope).create(JSONText(["name": .string("of " + scope)]))
            }
        }
        let list = await tool.run("records", "ls", "collections")
        #expect(list.out.contains("account") && !(list.out + list.err).contains("alice"), "\(list)")
        let own = await tool.run("records", "ls", "collections", "--scope", "alice", "--values")
        #expect(own.out.contains("of alice") && !own.out.contains("bob"), "\(own)")
        #expect(await !tool.run("outbox", "ls").out.contains("alice"))
        #expect(await tool.run("outbox", "ls", "--scope", "bob").out.split(separator: "\n").count == 2)
    }

    // MARK: Checking

    @Test func soundRecordsAreVerified() async throws {
        let tool = try RecordsTool()
        _ = await tool.run("sync", "run", "collections")
        try await tool.make("new")
        let output = await tool.run("records", "verify")
        #expect(output.code == 0, "\(output)")
        #expect(
            output.out
                == "collections: 4 records, 1 waiting change; nothing is wrong\nthe database is whole\n")
    }

    @Test func damageIsFoundAndLeftAsItIs() async throws {
        let tool = try RecordsTool(records: 200)
        _ = await tool.run("sync", "run", "collections")
        let page = try tool.firstPage(of: "records")
        var bytes = try Disk.read(tool.database, limit: 1 << 30)
        bytes.replaceSubrange(page, with: [UInt8](repeating: 0xA5, count: page.count))
        // In place, as a disk does it.
        try Data(bytes).write(to: URL(filePath: tool.database), options: [])
        let output = await tool.run("records", "verify")
        #expect(output.code == 1 && output.out.contains("the database is damaged"), "\(output)")
        #expect(try Disk.read(tool.database, limit: 1 << 30) == bytes)
        let json = await tool.run("records", "verify", "--json")
        #expect(try !Facts(json.out)["readable"].isTrue && json.code == 1)
    }

    @Test func databaseOfALaterVersionIsLeftAlone() async throws {
        let tool = try RecordsTool()
        _ = await tool.run("sync", "run", "collections")
        let connection = try SQLiteConnection(tool.database)
        for pragma in ["user_version", "application_id"] {
            let number = try connection.first("PRAGMA \(pragma)") { $0.integer(0) } ?? 0
            try connection.run("PRAGMA \(pragma)=\(number + 1)")
        }
        for words in [
            ["records", "ls", "collections"], ["records", "verify"], ["sync", "status"],
            ["outbox", "drop", "1", "--yes"],
        ] {
            let output = await tool.run(words)
            #expect(output.code == 1 && output.err.contains("made by a later version of Larder"), "\(words): \(output)")
        }
    }

    // MARK: Errors

    @Test func mistakesAreExplained() async throws {
        let tool = try RecordsTool()
        let unknown = await tool.run("records", "ls", "colections")
        #expect(unknown.code == 1 && unknown.err.contains("(did you mean 'collections'?)"), "\(unknown)")
        let other = await tool.run("records", "ls", "feed")
        #expect(
            other.err == "larder: feed: its policy has no section 'records'; there is one in: collections\n", "\(other)"
        )
        let hostile = await tool.run("records", "ls", "a\u{1B}[2Jb")
        #expect(hostile.code == 1 && !hostile.err.contains("\u{1B}"), "\(hostile)")
        for words in [["records"], ["records", "list"], ["records", "get", "collections"], ["outbox", "drop", "x"]] {
            #expect(await tool.run(words).code == 2, "\(words)")
        }
        try tool.folder.write("no folder", to: "data")
        let file = await tool.run("records", "ls", "collections")
        #expect(file.code == 1 && file.err.contains("the data folder cannot be used"), "\(file)")
    }
}

extension RecordsTool {
    var database: String { data + "/_larder/records/records.sqlite" }

    /// Brings all rows into the file of the database, and returns the place of the first page of a table.
    fileprivate func firstPage(of table: String) throws -> Range<Int> {
        let connection = try SQLiteConnection(database)
        try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
        let page = try connection.first("SELECT rootpage FROM sqlite_master WHERE name=?", .text(table)) {
            Int($0.integer(0))
        }
        let start = (try #require(page) - 1) * 4_096
        return start..<start + 4_096
    }

    fileprivate func indexes() throws -> [String] {
        var indexes: [String] = []
        let connection = try SQLiteConnection(database, isReader: true, hasIndexedFunctions: true)
        try connection.each("SELECT sql FROM sqlite_master WHERE type='index'") { row in
            indexes.append(row.text(0))
            return true
        }
        return indexes
    }

    /// The rows of the database and the names of the files in the folder for data.
    fileprivate func contents() throws -> [String] {
        let files = try FileManager.default.subpathsOfDirectory(atPath: data).filter { !$0.contains("-users/") }
        var rows: [String] = []
        let connection = try SQLiteConnection(database, isReader: true)
        for table in ["tables", "records", "outbox", "letters"] {
            try connection.each("SELECT * FROM \(table) ORDER BY 1") { row in
                rows.append("\(table) \(row.integer(0)) \(row.text(3)) \(row.text(7))")
                return true
            }
        }
        return files.sorted() + rows
    }
}
