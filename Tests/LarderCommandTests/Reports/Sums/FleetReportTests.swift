import LarderFoundation
import Larder
import LarderSystem
import Testing

@testable import LarderCommand
@testable import LarderCore

/// Reports about many installations: which processes count as running, and what is left out.
@Suite struct FleetReportTests {
    private static func dump(
        _ instance: String, installation: String? = nil, host: String? = nil, from start: Int64 = 0,
        to end: Int64 = 60, number: Int = 0, loads: UInt64 = 10, _ periods: [FiveMinutes] = []
    ) -> MetricsDump {
        var dump = Dumps.dump(
            instance: instance, host: host, minutes: end, store: StoreStatistics(entries: 2, bytes: 30),
            [RevisionDump([.loads: loads], periods)])
        dump.started = Dumps.noon + .seconds(start * 60)
        (dump.installation, dump.number) = (installation, number)
        dump.resources[0].inFlight = 1
        dump.resources[0].levels = [Level("breaker", "", values: ["closed", "open"]): "open"]
        return dump
    }

    private static func facts(_ dumps: MetricsDump..., options: String...) async throws -> Facts {
        let folder = try Dumps()
        for (number, dump) in dumps.enumerated() { try folder.write("\(number).json", dump) }
        return try Facts(await Output(["report", folder.folder.path, "--json"] + options).out)
    }

    /// The number of processes whose stores, running loads and levels are counted.
    private static func running(_ facts: Facts) -> [Int?] {
        let feed = facts["resources"].items[0]
        let entries = feed["store"]["entries"].int.map { $0 / 2 }
        #expect(feed["in_flight"].int == entries)
        #expect(feed["levels"]["breaker"]["open"].int == entries)
        return [facts["installations"].int, facts["processes"].int, entries]
    }

    // MARK: Which processes count as running

    @Test func eachInstallationCounts() async throws {
        let facts = try await Self.facts(
            Self.dump("a", installation: "1"), Self.dump("b", installation: "2"), Self.dump("c", installation: "3"))
        #expect(Self.running(facts) == [3, 3, 3])
        #expect(facts["resources"].items[0]["counters"]["loads"].int == 30)
    }

    @Test func laterRunOfInstallationReplacesEarlier() async throws {
        let facts = try await Self.facts(
            Self.dump("a", installation: "1", to: 20), Self.dump("b", installation: "1", from: 20, to: 30),
            Self.dump("c", installation: "1", from: 45, to: 50), Self.dump("d", installation: "2", to: 10))
        #expect(Self.running(facts) == [2, 4, 2])
        #expect(facts["resources"].items[0]["counters"]["loads"].int == 40)
    }

    @Test func processesThatRunAtTheSameTimeAllCount() async throws {
        let facts = try await Self.facts(
            Self.dump("a", installation: "1", host: "web"), Self.dump("b", installation: "1", host: "web", to: 59),
            Self.dump("c", installation: "1", host: "web", from: 30))
        #expect(Self.running(facts) == [1, 3, 3])
    }

    @Test func processThatFellSilentIsOver() async throws {
        // The first one was killed while the other ran, and nothing replaced it.
        let facts = try await Self.facts(
            Self.dump("a", installation: "1", to: 60), Self.dump("b", installation: "1", to: 121))
        #expect(Self.running(facts) == [1, 2, 1])
        let soon = try await Self.facts(
            Self.dump("a", installation: "1", to: 60), Self.dump("b", installation: "1", to: 120))
        #expect(Self.running(soon) == [1, 2, 2])
    }

    @Test func dumpsWithoutHostAndInstallationAreProcessesOfTheirOwn() async throws {
        let facts = try await Self.facts(Self.dump("a"), Self.dump("b"), Self.dump("c"))
        #expect(Self.running(facts) == [0, 3, 3])
    }

    @Test func textAndPageTellInstallations() async throws {
        let dumps = try Dumps()
        try dumps.write("a.json", Self.dump("a", installation: "1"))
        try dumps.write("b.json", Self.dump("b", installation: "2"))
        #expect(await dumps.report().out.contains("UTC, 2 installations, 2 processes, 2 dumps\n"))
        #expect(await dumps.report("--format", "html").out.contains("<dt>Installations</dt><dd>2</dd>"))
    }

    // MARK: Clocks

    private static func years(_ count: Int64) -> Int64 { count * 365 * 1_440 }

    @Test func dumpFromTheFutureIsSetApart() async throws {
        let (early, now) = (Self.dump("a", to: 60), Self.dump("b", from: 600, to: 660))
        let ahead = Self.dump("c", from: Self.years(10), to: Self.years(10) + 60, loads: 1_000)
        let facts = try await Self.facts(early, now, ahead, options: "--since", "2h")
        #expect(facts["processes"].int == 1 && facts["skipped"].items.isEmpty)
        #expect(facts["resources"].items[0]["counters"]["loads"].int == 10)
        let apart = try #require(facts["set_apart"].items.first)
        #expect(apart["file"].string?.hasSuffix("/2.json") == true)
        #expect(apart["reason"].string == "its clock was ahead: it was written on 2036-11-14 13:00 UTC")
    }

    @Test func dumpFromThePastIsSetApart() async throws {
        let behind = Self.dump("b", from: -Self.years(40), to: -Self.years(40) + 60)
        let facts = try await Self.facts(Self.dump("a"), behind)
        #expect(facts["from"].int == 1_794_916_800 && facts["processes"].int == 1)
        #expect(
            facts["set_apart"].items.map(\.["reason"].string) == [
                "its clock was behind: it was written on 1986-11-27 13:00 UTC"
            ])
    }

    @Test func clockMayBeADayAhead() async throws {
        // The reader's clock is a week later than noon.
        let day: Int64 = 1_440
        let facts = try await Self.facts(Self.dump("a", to: 8 * day), Self.dump("b", to: 8 * day + 1))
        #expect(facts["processes"].int == 1 && facts["set_apart"].items.count == 1)
    }

    @Test func dumpsSetApartAreNamedInTextAndPage() async throws {
        let dumps = try Dumps()
        try dumps.write("a.json", Self.dump("a"))
        for number in 10..<35 { try dumps.write("\(number).json", Self.dump("\(number)", to: Self.years(3))) }
        let output = await dumps.report()
        #expect(output.code == 0)
        #expect(output.out.contains("/10.json: its clock was ahead: it was written on 2029-11-16 12:00 UTC\n"))
        #expect(output.out.contains("\nSet apart: 5 more dumps with wrong clocks\n"))
        let page = await dumps.report("--format", "html").out
        #expect(page.contains("<li>Set apart: <code>") && page.contains("<li>Set apart: 5 more</li>"))
    }

    @Test func clockThatWasCorrectedLeavesNoGap() async throws {
        // The device started in 1970 and got the right time later.
        let dump = Self.dump(
            "a", from: -Self.years(56), to: 60,
            [FiveMinutes(at: -Self.years(56), [.loads: 3]), FiveMinutes(at: 50, [.loads: 7])])
        let facts = try await Self.facts(dump)
        #expect(facts["from"].int == 1_794_920_400 && facts["set_apart"].items.isEmpty)
        #expect(facts["resources"].items[0]["trend"].items.map(\.["loads"].int) == [7])
        #expect(facts["resources"].items[0]["counters"]["loads"].int == 10)
        #expect(
            facts["notes"].items.first?.string?.hasPrefix("Counts of 1 period of five minutes are not shown") == true)
    }

    @Test func onlyWrongClocksLeaveNoReport() async throws {
        let dumps = try Dumps()
        try dumps.write("a.json", Self.dump("a", to: Self.years(3)))
        let output = await dumps.report()
        #expect(output.code == 1 && output.out.isEmpty)
        #expect(output.err.contains("a.json: its clock was ahead: ") && output.err.contains("; set apart\n"))
    }

    // MARK: Many files

    @Test func namesAreReadFromInput() async throws {
        let dumps = try Dumps()
        for name in ["a", "b", "c"] { try dumps.write(name + ".dump", Self.dump(name)) }
        let path = dumps.folder.path
        for end in ["\n", "\r\n", "\0"] {
            let list = "\(path)/a.dump\(end)\(end)\(path)/b.dump\(end)"
            let output = await Output(["report", "-", "--json"], input: list)
            #expect(output.code == 0)
            #expect(try Facts(output.out)["processes"].int == 2)
        }
        let both = await Output(["report", "-", path + "/c.dump", "--json"], input: path + "/a.dump")
        #expect(try Facts(both.out)["processes"].int == 2)
        let folder = await Output(["report", "-", "--json"], input: path + "/none.json\n")
        #expect(folder.code == 1 && folder.err.contains("none.json"))
        #expect(await Output(["report", "-", "-"]).code == 2)
        #expect(await Output(["report", "-"]).code == 1)
    }

    @Test func compressedDumpsAreRead() async throws {
        let dumps = try Dumps()
        let text = Array(Self.dump("a").json.text().utf8)
        try Disk.put(dumps.folder.path + "/a.json.gz", Packed.bytes(of: text))
        try Disk.put(dumps.folder.path + "/b.json", Packed.bytes(of: Array(Self.dump("b").json.text().utf8)))
        #expect(try await dumps.facts()["processes"].int == 2)
        try Disk.put(dumps.folder.path + "/c.json.gz", Array(Packed.bytes(of: text).prefix(100)))
        let output = await dumps.report("--json")
        #expect(output.code == 1 && output.err.contains("c.json.gz: the gzip file ends too early; left out"))
    }

    @Test func otherFilesOfLarderAreNotDumps() async throws {
        let dumps = try Dumps()
        try dumps.write("a.json", Self.dump("a"))
        try dumps.folder.write(#"{"format":"larder-policies/1","files":{}}"#, to: "policies.json")
        try dumps.folder.write(#"{ "format" : "larder-fleet/1" }"#, to: "truth.json")
        #expect(await dumps.report().code == 0)
        // A file that is named itself is expected to be a dump, and so is one of another version.
        #expect(await Output(["report", dumps.folder.path + "/truth.json"]).code == 1)
        try dumps.folder.write(#"{ "format" : "larder-metrics/2" }"#, to: "next.json")
        #expect(await dumps.report().code == 1)
    }

    @Test func damagedLastDumpLeavesTheOneBefore() async throws {
        let dumps = try Dumps()
        try dumps.write("1.json", Self.dump("a", to: 30, loads: 4))
        let text = Self.dump("a", number: 1, loads: 9).json.text(indented: false)
        try dumps.folder.write(String(text.prefix(text.count - 30)), to: "2.json")
        let facts = try await dumps.facts()
        #expect(facts["dumps"].int == 1 && facts["skipped"].items.count == 1)
        #expect(facts["resources"].items[0]["counters"]["loads"].int == 4)
    }

    @Test func manyBadFilesAreCounted() async throws {
        let dumps = try Dumps()
        try dumps.write("a.json", Self.dump("a"))
        for number in 10..<40 { try dumps.folder.write("x", to: "\(number).json") }
        let output = await dumps.report("--format", "html")
        #expect(output.code == 1 && output.err.split(separator: "\n").count == 21)
        #expect(output.err.hasSuffix("larder: 10 more files left out\n"))
        #expect(output.out.contains("<li>Left out: 10 more</li>"))
    }
}

/// Writes gzip files whose contents are not compressed.
enum Packed {
    static func bytes(of contents: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        var rest = contents[...]
        repeat {
            let block = rest.prefix(60_000)
            rest = rest.dropFirst(block.count)
            bytes.append(rest.isEmpty ? 1 : 0)
            let count = UInt16(block.count)
            for word in [count, ~count] { bytes += [UInt8(word & 0xFF), UInt8(word >> 8)] }
            bytes += block
        } while !rest.isEmpty
        for word in [checksum(of: contents), UInt32(truncatingIfNeeded: contents.count)] {
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }
        }
        return bytes
    }

    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
    }
}
