import LarderFoundation
import Larder
import LarderSystem
import Testing

@testable import LarderCommand

/// Wrong calls of `larder store`, and the stores of third parties.
@Suite struct StoreCommandErrorTests {
    private typealias App = StoreCommandTests.App

    private static let sqlite = #"{ "use": "sqlite" }"#

    @Test(arguments: [
        (["store"], "store takes one of ls, get, rm,"),
        (["store", "lst", "feed"], "store has no 'lst' (did you mean 'ls'?)"),
        (["store", "ls"], "it is called 'store ls RESOURCE'"),
        (["store", "get", "feed"], "it is called 'store get RESOURCE KEY|DIGEST'"),
        (["store", "ls", "feed", "--tag", "x"], "--tag does not go with 'store ls'"),
        (["store", "rm", "feed", "x", "--all"], "--all does not go with 'store rm'"),
        (["store", "clear", "feed"], "store clear needs --scope, --no-scope, --tag or --all"),
        (["store", "expire", "feed"], "store expire needs KEY, DIGEST, --scope, --no-scope, --tag or --all"),
        (["store", "clear", "feed", "--scope", ""], "--scope needs the name of an account; it is empty"),
        (["store", "clear", "feed", "--all", "--tag", "x"], "--scope, --no-scope, --tag and --all exclude each other"),
        (["store", "expire", "feed", "x", "--all"], "an entry and --scope, --no-scope, --tag or --all exclude each"),
        (["store", "get", "feed", "x", "--payload", "--json"], "--payload goes neither with JSON nor with --output"),
    ])
    func wrongCallIsExplained(_ arguments: [String], _ message: String) async {
        let output = await Output(arguments)
        #expect(output.code == 2 && output.err.hasPrefix("larder: \(message)"), "\(output)")
    }

    @Test func cacheOfTheProjectIsTheDefault() async throws {
        let folder = try Folder.withPolicies()
        let output = await Output(["store", "stats", "--policies", folder.path])
        #expect(output.code == 1 && output.err.contains("larder/projects/"), "\(output)")
        #expect(
            output.err.hasSuffix(
                ": this is no cache folder: no store has kept anything in it; this is the folder of 'larder load'; name "
                    + "an app's folder with --cache\n"), "\(output)")
    }

    @Test func unknownResourceIsToldWithTheNearestName() async throws {
        let app = try await App(Self.sqlite)
        let output = await app.run("ls", "fede")
        #expect(output.code == 1)
        #expect(output.err == "larder: fede: no such resource; there are: feed, live (did you mean 'feed'?)\n")
    }

    @Test func unknownEntriesAreTold() async throws {
        let app = try await App(Self.sqlite)
        #expect(await app.run("get", "feed", "feed?id=9").err == "larder: feed: no entry has this key\n")
        #expect(await app.run("rm", "feed", "0000000").err == "larder: feed: no entry has the digest '0000000'\n")
        #expect(await app.run("rm", "feed", "abc").err == "larder: feed: a digest needs at least 4 digits\n")
        let other = await app.run("pin", "feed", "live?id=1")
        #expect(other.err.hasPrefix("larder: feed: 'live?id=1' is neither a key of feed,"), "\(other)")
        #expect(other.code == 1)
    }

    @Test func ambiguousDigestIsToldWithItsCandidates() async throws {
        let app = try await App(Self.sqlite, entries: 0)
        // Two keys whose digests begin alike.
        var seen: [Substring: Int] = [:]
        var (one, other): (Int?, Int) = (nil, 2)
        while one == nil {
            other += 1
            one = seen.updateValue(other, forKey: App.key(other).digest.prefix(4))
        }
        let first = try #require(one)
        for id in [first, other] {
            let entry = Entry(Data("x".utf8), Metadata(fetchedAt: Dumps.now))
            #expect(try await app.feed.stock(entry, for: Request("feed", ["id": "\(id)"], scope: "alice")))
        }
        let digits = String(App.key(first).digest.prefix(4))
        let output = await app.run("rm", "feed", digits)
        #expect(output.code == 1)
        #expect(output.err.hasPrefix("larder: feed: 2 digests begin with '\(digits)': \(digits)"), "\(output)")
        #expect(await app.run("rm", "feed", App.key(first).digest).code == 0)
        #expect(await app.run("rm", "feed", digits).code == 0)
    }

    @Test func resourceInMemoryHasNothingPersistent() async throws {
        let app = try await App(Self.sqlite)
        let output = await app.run("ls", "live")
        #expect(output.code == 1)
        #expect(
            output.err == "larder: live: there is nothing persistent, because its store 'memory' is in memory only\n")
    }

    @Test func folderWithoutStoresIsNoCacheFolderAndStaysEmpty() async throws {
        let app = try await App(Self.sqlite)
        let empty = try Folder()
        let output = await Output(["store", "ls", "feed", "--policies", app.folder.path, "--cache", empty.path])
        #expect(output.code == 1 && output.err.hasSuffix("no store has kept anything in it\n"), "\(output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: empty.path).isEmpty)
    }

    @Test func storeOfAThirdPartyIsChecked() async throws {
        var registry = Registry.standard
        try registry.register(
            .store(
                "mine", "Keeps entries elsewhere.", Setting("in", .part(.store), help: "The store"),
                traits: { _ in .with { $0.isForeign = true } }
            ) { context, part in Wrapped(wrapped: try part.store(in: context)) })
        let app = try await App(#"{ "use": "mine", "in": "sqlite" }"#, registry: registry)
        #expect(await app.run("ls", "feed").out.split(separator: "\n").count == 4)
        let output = await app.run("verify", "feed")
        #expect(output.code == 0 && output.out == "feed: 3 entries checked, none is damaged\n", "\(output)")
        #expect(await app.run("stats", "feed").out.contains("mine (sqlite)"))
    }

    @Test func storeThatCannotListIsTold() async throws {
        var registry = Registry.standard
        try registry.register(
            .store("bare", "Lists nothing.", traits: { .with { $0.isForeign = true } }) { _ in Bare() })
        let app = try await App(Self.sqlite, registry: registry)
        try app.folder.edit("live.json", #"{ "use": "memory", "capacity": "1MB" }"#, #""bare""#)
        let output = await app.run("ls", "live")
        #expect(output.code == 1 && output.err == "larder: the store cannot list its entries\n", "\(output)")
        #expect(await app.run("verify", "live").code == 1)
    }

    private struct Wrapped: WrappingStore {
        let wrapped: any Store
    }

    private struct Bare: Store {
        func read(_ reading: Reading) async throws -> Found? { nil }
        func write(_ entry: Entry, for key: Key) async throws -> Bool { false }
        func remove(_ selection: Selection) async throws {}
        func statistics() async -> StoreStatistics { StoreStatistics() }
    }
}
