import LarderFoundation
import Larder
import LarderSystem
import Testing

@testable import FleetRun

/// Made-up fleets, and reports about them.
@Suite struct FleetTests {
    private static func fleet(_ options: String...) async throws -> (folder: Folder, output: Output, truth: Facts) {
        let folder = try Folder()
        let output = await Output(.fleet, ["--out", folder.path + "/fleet"] + options)
        let text = try? folder.text(of: "fleet/truth.json")
        return (folder, output, try Facts(text ?? "null"))
    }

    @Test func reportHasExactlyTheSimulatedTotals() async throws {
        let (folder, output, truth) = try await Self.fleet("--dumps", "30", "--seed", "7")
        #expect(output.code == 0, "\(output.err)")
        let report = await Output(["report", folder.path + "/fleet", "--json"])
        #expect(report.code == 1)
        let facts = try Facts(report.out)
        for name in ["installations", "processes", "dumps"] { #expect(facts[name].int == truth[name].int, "\(name)") }
        #expect(facts["skipped"].items.count == 10)
        func files(_ list: Facts) -> [String] {
            list.items.compactMap { ($0.string ?? $0["file"].string)?.split(separator: "/").last.map(String.init) }
        }
        #expect(files(facts["skipped"]) == files(truth["bad_files"]))
        #expect(files(facts["set_apart"]) == files(truth["wrong_clocks"]) && truth["wrong_clocks"].items.count >= 2)
        #expect(facts["resources"].items.count == 2)
        for (section, exact) in zip(facts["resources"].items, truth["resources"].items) {
            let counters = section["counters"]
            #expect(section["resource"].string == exact["resource"].string)
            #expect(exact["requests"].int == exact["loads"].int)
            Self.compare(section, exact)
            #expect(counters["origin_calls"].int == exact["origin_calls"].int)
            #expect(counters["bytes_out"].int == exact["bytes_out"].int)
            #expect(section["in_flight"].int == 0)
            let revisions = Dictionary(
                uniqueKeysWithValues: section["revisions"].items.map { ($0["revision"].string, $0) })
            #expect(revisions.count == exact["revisions"].items.count)
            for revision in exact["revisions"].items {
                Self.compare(try #require(revisions[revision["revision"].string]), revision)
            }
        }
    }

    private static func compare(_ found: Facts, _ exact: Facts) {
        #expect(found["counters"]["loads"].int == exact["loads"].int)
        #expect(found["counters"]["failures"].int == exact["failed"].int)
        #expect(found["counters"]["fallbacks"].int == exact["fallback"].int)
        for outcome in ["live", "fresh", "stale", "fallback", "failed"] {
            #expect((found["latency"][outcome]["count"].int ?? 0) == exact[outcome].int, "\(outcome)")
        }
    }

    @Test func sameOptionsGiveSameFleet() async throws {
        let options = ["--dumps", "12", "--traffic", "rate=0.001,for=4h,keys=5"]
        let folders = try [Folder(), Folder()]
        for folder in folders { _ = await Output(.fleet, ["--out", folder.path + "/fleet"] + options) }
        let names = try Disk.list(folders[0].path + "/fleet").map(\.name).sorted()
        #expect(names.count == 12 + 10 + 1)
        #expect(try Disk.list(folders[1].path + "/fleet").map(\.name).sorted() == names)
        for name in names {
            let texts = folders.map { try? Disk.read($0.path + "/fleet/" + name, limit: 1 << 24) }
            #expect(texts[0] == texts[1], "\(name)")
        }
    }

    @Test func revisionsAreRolledOutInOrder() async throws {
        let (folder, _, truth) = try await Self.fleet("--dumps", "30")
        let feed = truth["resources"].items[1]
        let order = feed["revisions"].items.map(\.["revision"].string)
        #expect(feed["resource"].string == "feed" && order.count == 3)
        let facts = try Facts(await Output(["report", folder.path + "/fleet", "--json"]).out)
        let found = facts["resources"].items[1]["revisions"].items
        #expect(found.map(\.["revision"].string) == order)
        #expect(found.allSatisfy { ($0["counters"]["loads"].int ?? 0) > 100 })
    }

    @Test func givenPoliciesAreRevisions() async throws {
        let policies = try Folder()
        for (number, patience) in ["100ms", "2s"].enumerated() {
            try policies.write(
                """
                { "resource": "news", "origin": { "use": "sample", "payload": "feed" },
                  "strategy": { "use": "network-first", "patience": "\(patience)" },
                  "validators": [{ "use": "age", "onError": "1d" }], "store": "memory" }
                """, to: "\(number).json")
        }
        let (_, output, truth) = try await Self.fleet(
            "--dumps", "12", "--policy", policies.path + "/0.json", "--policy", policies.path + "/1.json")
        #expect(output.code == 0, "\(output.err)")
        #expect(truth["resources"].items.map(\.["resource"].string) == ["news"])
        #expect(truth["resources"].items[0]["revisions"].items.count == 2)
    }

    @Test func folderWithFilesIsRefused() async throws {
        let folder = try Folder()
        try folder.write("", to: "old.json")
        let output = await Output(.fleet, ["--dumps", "10", "--out", folder.path])
        #expect(output.code == 1 && output.err.contains("is not empty"))
        #expect(try Disk.list(folder.path).count == 1)
    }

    @Test(arguments: [
        [], ["--dumps", "10"], ["--out", "x"], ["--dumps", "5", "--out", "x"],
        ["--dumps", "10", "--out", "x", "--trace", "y"], ["--dumps", "10", "--out", "x", "y"],
    ])
    func wrongOptionsAreRefused(_ options: [String]) async {
        #expect(await Output(.fleet, options).code == 2)
    }
}
