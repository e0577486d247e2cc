import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderCommand

/// Runs `larder store` on the cache folder of an app that has it open.
@Suite struct StoreCommandTests {
    /// An app with a few entries, and the command beside it.
    struct App {
        let folder: Folder
        let pantry: Pantry
        let registry: Registry

        var feed: Resource<Data> { pantry.resource("feed") }

        init(
            _ store: String, registry: Registry = .standard, entries: Int = 3, validators: String = ""
        ) async throws {
            self.registry = registry
            folder = try Folder()
            try folder.write(
                """
                { "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first",
                  "validators": [{ "use": "age", "fresh": "1m", "onError": "1h" }\(validators)], "store": \(store) }
                """, to: "feed.json")
            try folder.write(
                """
                { "resource": "live", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first",
                  "store": { "use": "memory", "capacity": "1MB" } }
                """, to: "live.json")
            pantry = try await Pantry(
                policies: folder.url, registry: registry, cache: folder.url.appending(path: "cache"),
                data: folder.url.appending(path: "data"))
            for number in 0..<entries {
                let age = Duration.seconds([30, 600, 7_200][number % 3])
                let metadata = Metadata(
                    fetchedAt: Dumps.now - age, etag: "\"v\(number)\"", contentType: "text/plain",
                    tags: ["tag \(number % 2)"])
                let request = Request("feed", ["id": "\(number)"], scope: number == 2 ? nil : "alice")
                #expect(try await feed.stock(Entry(Data("text \(number)".utf8), metadata), for: request))
            }
        }

        /// Runs a subcommand.
        func run(_ words: String...) async -> Output {
            await Output(
                ["store"] + words + ["--policies", folder.path, "--cache", folder.path + "/cache"], registry: registry)
        }

        static func key(_ id: Int) -> Key {
            Key(resource: "feed", scope: id == 2 ? nil : "alice", parameters: ["id": "\(id)"])
        }

        /// The files in the folder of the store, by their paths.
        func files(_ isMeant: (String) -> Bool) throws -> [String] {
            let cache = folder.path + "/cache/"
            return try FileManager.default.subpathsOfDirectory(atPath: cache).filter(isMeant).map { cache + $0 }
        }
    }

    static let stores = [
        #"{ "use": "sqlite" }"#, #"{ "use": "file", "limit": "5s" }"#,
        #"{ "use": "tiered", "tiers": [{ "use": "memory", "capacity": "1MB" }, "sqlite"] }"#,
    ]

    // MARK: Looking

    @Test(arguments: stores) func entriesAreListedWithoutTheirKeys(_ store: String) async throws {
        let app = try await App(store)
        let output = await app.run("ls", "feed")
        #expect(output.code == 0 && output.err.isEmpty, "\(output)")
        let lines = output.out.split(separator: "\n")
        #expect(lines.first == "digest            freshness     age     size")
        func line(_ id: Int) -> Substring? { lines.first { $0.hasPrefix(App.key(id).digest.prefix(16)) } }
        #expect(line(0)?.hasSuffix("fresh        30 s  6 bytes") == true, "\(output.out)")
        #expect(line(1)?.hasSuffix("stale      10 min  6 bytes") == true, "\(output.out)")
        #expect(line(2)?.hasSuffix("too old       2 h  6 bytes") == true, "\(output.out)")
        #expect(!output.out.contains("alice"))
    }

    @Test(arguments: stores) func keysAreShownWhenAskedFor(_ store: String) async throws {
        let app = try await App(store)
        let output = await app.run("ls", "feed", "--keys")
        #expect(output.out.contains("  feed@alice?id=0\n") && output.out.contains("  feed?id=2\n"), "\(output)")
        let json = await app.run("ls", "feed", "--keys", "--json").out
        #expect(json.contains(#""key": "feed@alice?id=1""#) && json.contains(#""age_ms": 600000"#), "\(json)")
        #expect(json.contains(#""digest": "\#(App.key(1).digest)""#))
        #expect(await !app.run("ls", "feed", "--format", "json").out.contains("alice"))
    }

    @Test(arguments: stores) func entryIsShownByKeyAndByDigest(_ store: String) async throws {
        let app = try await App(store)
        for name in [App.key(1).text, App.key(1).digest, String(App.key(1).digest.prefix(8))] {
            let output = await app.run("get", "feed", name)
            #expect(output.code == 0, "\(output)")
            #expect(output.out.contains("digest       \(App.key(1).digest)\n"), "\(output.out)")
            #expect(output.out.contains("etag         \"v1\"\n") && output.out.contains("tags         tag 1\n"))
            #expect(!output.out.contains("alice") && !output.out.contains("text 1"))
        }
        let payload = await app.run("get", "feed", App.key(1).text, "--payload")
        #expect(payload.out == "text 1" && payload.err.contains("text/plain"))
        let file = app.folder.path + "/payload"
        let json = await app.run("get", "feed", App.key(1).text, "--output", file, "--json", "--keys")
        #expect(json.out.contains(#""key": "feed@alice?id=1""#) && json.out.contains(#""size": 6"#), "\(json)")
        #expect(try app.folder.text(of: "payload") == "text 1")
    }

    @Test func entriesAreCountedForEachResource() async throws {
        let app = try await App(Self.stores[2])
        let output = await app.run("stats")
        let lines = output.out.split(separator: "\n")
        #expect(lines.count == 3 && lines[0].hasPrefix("resource  store"), "\(output)")
        #expect(lines[1].hasPrefix("feed      tiered (memory, sqlite)") && lines[1].contains("  3  "))
        #expect(lines[2].hasPrefix("live      memory, not persistent") && lines[2].hasSuffix("–"))
        let json = await app.run("stats", "feed", "--json").out
        #expect(json.contains(#""entries": 3"#) && !json.contains("live"))
    }

    // MARK: Changing

    @Test(arguments: stores) func removedEntryIsGoneForTheApp(_ store: String) async throws {
        let app = try await App(store)
        let output = await app.run("rm", "feed", App.key(0).text)
        #expect(output.code == 0 && output.out == "feed: removed \(App.key(0).digest)\n", "\(output)")
        let listed = await app.run("ls", "feed", "--keys")
        #expect(!listed.out.contains("id=0") && listed.out.contains("id=1"))
        #expect(await app.run("get", "feed", App.key(0).text).code == 1)
    }

    @Test func appHearsOfARemoval() async throws {
        let app = try await App(Self.stores[2])
        var changes = app.feed.changesByOthers.makeAsyncIterator()
        // The first use of the store, from which on changes matter.
        _ = try await app.feed.contains(["id": "0"], scope: "alice")
        #expect(await app.run("rm", "feed", App.key(0).text).code == 0)
        while let change = await changes.next() {
            if change == .key(App.key(0)) || change == .all { break }
        }
        #expect(try await !app.feed.contains(["id": "0"], scope: "alice"))
        #expect(try await app.feed.contains(["id": "1"], scope: "alice"))
    }

    @Test(arguments: stores) func expiredEntriesAreNoLongerFresh(_ store: String) async throws {
        let app = try await App(store)
        #expect(await app.run("expire", "feed", App.key(0).text).code == 0)
        let one = await app.run("ls", "feed", "--json").out
        #expect(one.ranges(of: #""expired": true"#).count == 1 && !one.contains(#""fresh""#), "\(one)")
        let tag = await app.run("expire", "feed", "--tag", "tag 1")
        #expect(tag.out == "feed: expired all entries with tag 'tag 1'\n", "\(tag)")
        #expect(await app.run("ls", "feed", "--json").out.ranges(of: #""expired": true"#).count == 2)
        #expect(await app.run("expire", "feed", "--all").code == 0)
        #expect(await app.run("ls", "feed", "--json").out.ranges(of: #""expired": true"#).count == 3)
    }

    @Test(arguments: stores) func selectedEntriesAreCleared(_ store: String) async throws {
        let app = try await App(store, entries: 9)
        let scope = await app.run("clear", "feed", "--no-scope")
        #expect(scope.out == "feed: cleared 1 entry of no account; 8 left\n", "\(scope)")
        let tag = await app.run("clear", "feed", "--tag", "tag 0", "--json")
        #expect(tag.out.contains(#""left": 4"#), "\(tag)")
        #expect(await app.run("clear", "feed", "--scope", "alice").out.hasSuffix("; 0 left\n"))
        let empty = await app.run("ls", "feed")
        #expect(empty.code == 0 && empty.out.isEmpty && empty.err == "feed: no entries\n")
        #expect(await app.run("clear", "feed", "--all").code == 0)
    }

    @Test(arguments: stores) func clearingSaysHowManyCopiesWentAndThatThereWereNone(_ store: String) async throws {
        let app = try await App(store)
        let typo = await app.run("clear", "feed", "--scope", "alcie")
        #expect(
            typo.code == 0 && typo.out == "feed: cleared nothing: no copy of account 'alcie' was kept; 3 left\n",
            "\(typo)")
        let output = await app.run("clear", "feed", "--scope", "alice")
        #expect(output.out == "feed: cleared 2 entries of account 'alice'; 1 left\n", "\(output)")
        #expect(await app.run("clear", "feed", "--all").out == "feed: cleared 1 entry; 0 left\n")
        #expect(await app.run("clear", "feed", "--all").out == "feed: cleared nothing: no copy was kept; 0 left\n")
    }

    @Test(arguments: stores) func pinsAreListed(_ store: String) async throws {
        let app = try await App(store)
        #expect(await app.run("pin", "feed", App.key(0).text).code == 0)
        let output = await app.run("ls", "feed").out
        let lines = output.split(separator: "\n")
        #expect(lines.first == "digest            freshness  pinned     age     size", "\(output)")
        func line(_ id: Int) -> Substring? { lines.first { $0.hasPrefix(App.key(id).digest.prefix(16)) } }
        #expect(line(0)?.contains("fresh      yes  ") == true, "\(output)")
        #expect(line(1)?.contains("stale      no  ") == true, "\(output)")
        #expect(await app.run("ls", "feed", "--json").out.ranges(of: #""pinned": true"#).count == 1)
    }

    @Test func timesOfAnEntryHaveSeconds() async throws {
        let app = try await App(Self.stores[0])
        #expect(await app.run("get", "feed", App.key(0).text).out.contains("fetched      2026-11-24 11:59:30 UTC\n"))
    }

    @Test(arguments: stores) func pinnedEntrySurvivesWhereOthersAreEvicted(_ store: String) async throws {
        let app = try await App(store)
        let pinned = await app.run("pin", "feed", String(App.key(0).digest.prefix(10)))
        #expect(pinned.code == 0 && pinned.out == "feed: pinned \(App.key(0).digest)\n", "\(pinned)")
        #expect(await app.run("unpin", "feed", App.key(0).text).out == "feed: unpinned \(App.key(0).digest)\n")
    }

    // MARK: Care

    @Test(arguments: stores) func soundStoreIsVerified(_ store: String) async throws {
        let app = try await App(store)
        let output = await app.run("verify", "feed")
        #expect(output.code == 0 && output.out == "feed: 3 entries checked, none is damaged\n", "\(output)")
        #expect(await app.run("ls", "feed").out.split(separator: "\n").count == 4)
    }

    @Test func damageOfADatabaseIsFoundAndRemovedWhileTheAppGoesOn() async throws {
        let app = try await App(#"{ "use": "sqlite", "filesFrom": "100KB" }"#)
        let large = Entry(Data(repeating: 7, count: 200_000), Metadata(fetchedAt: Dumps.now))
        #expect(try await app.feed.stock(large, for: Request("feed", ["id": "large"])))
        try Disk.remove(try #require(try app.files { $0.hasSuffix(".payload") }.first))
        let json = await app.run("verify", "feed", "--json")
        #expect(json.code == 0 && json.out.contains(#""damaged": 1"#) && json.out.contains(#""left": 0"#), "\(json)")
        #expect(await app.run("verify", "feed").out == "feed: 3 entries checked, none is damaged\n")
        #expect(try await app.feed.contains(["id": "0"], scope: "alice"))
        #expect(try await !app.feed.contains(["id": "large"]))
        #expect(try await app.feed.stock(large, for: Request("feed", ["id": "large"])))
        #expect(await app.run("verify", "feed").out == "feed: 4 entries checked, none is damaged\n")
    }

    /// Changes a byte in the payload of an entry of the store `file`.
    private static func damage(_ id: Int, of app: App) throws {
        let file = URL(filePath: try #require(try app.files { $0.hasSuffix("\(App.key(id).digest).entry") }.first))
        var bytes = try Data(contentsOf: file)
        let payload = try #require(bytes.firstRange(of: Data("text \(id)".utf8)))
        bytes[payload.lowerBound] ^= 1
        try bytes.write(to: file)
    }

    @Test(arguments: [stores[1], #"{ "use": "tiered", "tiers": [{ "use": "memory", "capacity": "1MB" }, "file"] }"#])
    func payloadWithAnotherChecksumIsDamaged(_ store: String) async throws {
        let app = try await App(store, validators: #", "checksum""#)
        try Self.damage(0, of: app)
        let output = await app.run("verify", "feed")
        #expect(output.code == 0 && output.out == "feed: 3 entries checked, 1 damaged entry removed\n", "\(output)")
        #expect(await app.run("verify", "feed").out == "feed: 2 entries checked, none is damaged\n")
    }

    @Test(arguments: ["head", "length", "payload file"])
    func damagedFileOfAnEntryIsNoEntry(_ damage: String) async throws {
        let app = try await App(Self.stores[1])
        let large = Entry(Data(repeating: 7, count: 500_000), Metadata(fetchedAt: Dumps.now))
        #expect(try await app.feed.stock(large, for: Request("feed", ["id": "large"])))
        if damage == "payload file" {
            try Disk.remove(try #require(try app.files { $0.hasSuffix(".payload") }.first))
        } else {
            let file = URL(filePath: try #require(try app.files { $0.hasSuffix("\(App.key(0).digest).entry") }.first))
            var bytes = try Data(contentsOf: file)
            if damage == "head" { bytes[40] ^= 1 }
            if damage == "length" {
                bytes = bytes.prefix(try #require(bytes.firstRange(of: Data("text 0".utf8))?.lowerBound))
            }
            try bytes.write(to: file)
        }
        // An entry without a key is not listed, and one without its payload is gone when it is read.
        let words = [
            "head": "3 entries checked, none is damaged", "length": "4 entries checked, 1 damaged entry removed",
            "payload file": "4 entries checked, none is damaged",
        ]
        let found = await app.run("verify", "feed")
        #expect(found.code == 0 && found.out == "feed: \(words[damage] ?? "")\n", "\(found)")
        #expect(await app.run("verify", "feed").out == "feed: 3 entries checked, none is damaged\n")
        #expect(try await app.feed.contains(["id": "1"], scope: "alice"))
    }

    @Test func payloadDoesNotOverwriteAPolicyOrAFileOfTheStore() async throws {
        let app = try await App(Self.stores[1])
        let policy = app.folder.path + "/feed.json"
        let entry = try #require(try app.files { $0.hasSuffix(".entry") }.first)
        for file in [policy, entry] {
            let before = try Data(contentsOf: URL(filePath: file))
            let output = await app.run("get", "feed", App.key(1).text, "--output", file)
            #expect(output.code == 2 && output.err.contains("--output would overwrite \(file)"), "\(output)")
            #expect(try Data(contentsOf: URL(filePath: file)) == before)
        }
    }

    @Test(arguments: stores) func copiesOfAFormerSourceAreNotCalledFresh(_ store: String) async throws {
        let app = try await App(store)
        try app.folder.edit("feed.json", #""value": 1"#, #""value": 2"#)
        let output = await app.run("ls", "feed")
        #expect(output.out.ranges(of: "other source").count == 3 && !output.out.contains("fresh  "), "\(output)")
        let one = await app.run("get", "feed", App.key(0).text)
        #expect(one.out.contains("freshness    other source\n"), "\(one)")
    }

    @Test(arguments: ["ls", "verify", "stats"])
    func damagedDatabaseIsToldAndStaysWhereItIs(_ subcommand: String) async throws {
        let app = try await App(Self.stores[0])
        await app.pantry.close()
        let file = URL(
            filePath: try #require(try app.files { $0.hasSuffix(".sqlite") && !$0.hasSuffix("e/.sqlite") }.last))
        try Data("no database".utf8).write(to: file)
        let output = await app.run(subcommand, "feed")
        #expect(output.code == 1 && output.err.contains("feed: the database is damaged [in "), "\(output)")
        #expect(output.err.contains(file.deletingLastPathComponent().lastPathComponent), "\(output)")
        #expect(try Data(contentsOf: file) == Data("no database".utf8))
        #expect(try app.files { $0.hasSuffix("-damaged") }.isEmpty)
    }

    @Test func commandThatSetsADamagedDatabaseAsideSaysSo() async throws {
        let app = try await App(Self.stores[0])
        await app.pantry.close()
        let file = URL(filePath: try #require(try app.files { $0.hasSuffix(".sqlite") }.last))
        try Data("no database".utf8).write(to: file)
        let output = await app.run("expire", "feed", "--all")
        #expect(
            output.code == 0 && output.err.contains("is now \(file.lastPathComponent)-damaged; a new one"), "\(output)")
        #expect(try app.files { $0.hasSuffix("-damaged") }.count == 1)
    }

    @Test func mistakeInAnotherPolicyIsNotedWhileANamedResourceIsListed() async throws {
        let app = try await App(Self.stores[0])
        try app.folder.edit("live.json", "cache-first", "cache-frist")
        let output = await app.run("ls", "feed")
        #expect(output.code == 0 && output.out.split(separator: "\n").count == 4, "\(output)")
        #expect(output.err.contains("live.json") && output.err.contains("did you mean 'cache-first'?"), "\(output)")
        #expect(await app.run("ls", "live").code == 1)
        #expect(await app.run("stats").code == 1)
    }
}
