import LarderFoundation
import Larder
import LarderSystem
import Testing

@testable import LarderCommand
@testable import LarderReports

/// The display of `larder top` while dumps appear, change, break and vanish.
@Suite struct TopTests {
    private static let now = Dumps.noon + .seconds(3_600)

    private static func dump(
        _ instance: String = "a", number: Int = 1, minutes: Int64 = 60, loads: UInt64 = 40, breaker: String? = nil,
        revision: String = "one", _ edit: (inout MetricsDump) -> Void = { _ in }
    ) -> MetricsDump {
        var minute = ResourceMetrics()
        (minute[.loads], minute[.fallbacks]) = (loads, loads / 4)
        minute.latency[.live, default: Sketch()].record(.milliseconds(120), times: loads)
        minute.ages[.stale, default: Sketch(.age)].record(.seconds(7_200))
        var feed = RevisionDump(revision, [.loads: loads * 100])
        feed.windows[.minute] = minute
        var dump = Dumps.dump(
            instance: instance, minutes: minutes, store: StoreStatistics(entries: 7, bytes: 2_000), [feed])
        dump.number = number
        if let breaker { dump.resources[0].levels = [.breaker: breaker] }
        edit(&dump)
        return dump
    }

    private static func taking(_ readings: [FollowedDumps.Change]...) -> TopState {
        readings.reduce(into: TopState()) { _ = $0.take($1, at: now) }
    }

    private static func text(_ state: TopState, at time: Timestamp = now) -> TopText {
        TopText(state: state, now: time, paths: ["dumps"])
    }

    // MARK: The state

    @Test func lastMinutesOfProcessesAreAddedUp() throws {
        let state = Self.taking([.dump(Self.dump("a")), .dump(Self.dump("b", loads: 60, breaker: "open"))])
        let row = try #require(state.rows(at: Self.now).first)
        #expect(row.minute.loads == 100 && row.minute[.fallbacks] == 25)
        #expect(row.store.entries == 14 && row.levels == [.breaker: ["open": 1]])
        #expect(state.count(at: Self.now) == (2, 2))
    }

    @Test func changesThatWaitAreShownForAllProcessesTogether() throws {
        func dump(_ instance: String, waiting: Double, oldest: Double) -> MetricsDump {
            Self.dump(instance) {
                $0.resources[0].gauges = [.changesWaiting: waiting, .oldestChange: oldest]
                $0.resources[0].levels = [Level("sync_outbox", "", values: ["empty", "pending", "full"]): "pending"]
            }
        }
        let text = Self.text(
            Self.taking([
                .dump(dump("a", waiting: 1, oldest: 60)), .dump(dump("b", waiting: 2, oldest: 7_200)),
            ]))
        let screen = text.screen(columns: 200, rows: nil).map(\.text)
        #expect(screen.contains { $0.hasPrefix("now") && $0.contains("changes wait") })
        #expect(screen.contains { $0.hasPrefix("feed") && $0.contains("3, oldest 2 h  sync outbox pending (2)") })
        #expect(text.lines(after: 0).last?.hasSuffix("changes wait: 3, oldest 2 h; sync outbox pending (2)") == true)
        let gauges = try Facts(text.json.text())["resources"].items[0]["gauges"]
        #expect(gauges["sync_pending"].int == 3 && gauges["sync_oldest_pending_seconds"].int == 7_200)
        // Resources without changes have no such column.
        let others = Self.text(Self.taking([.dump(Self.dump())])).screen(columns: 200, rows: nil)
        #expect(!others.contains { $0.text.contains("wait") })
    }

    @Test func newerDumpOfProcessReplacesOlderOne() throws {
        let state = Self.taking([
            .dump(Self.dump(number: 5, loads: 8)), .dump(Self.dump(number: 4, minutes: 61, loads: 99)),
        ])
        #expect(state.rows(at: Self.now).first?.minute.loads == 8)
        #expect(state.count(at: Self.now).all == 1)
    }

    @Test func processThatWritesNoDumpsAnyMoreIsLeftOut() {
        var state = Self.taking([.dump(Self.dump("a", number: 60)), .dump(Self.dump("b", number: 60, loads: 60))])
        _ = state.take([.dump(Self.dump("b", number: 70, minutes: 70, loads: 60))], at: Self.now + .seconds(600))
        #expect(state.rows(at: Self.now + .seconds(600)).first?.minute.loads == 60)
        #expect(state.events.map(\.text) == ["shop has written no dump since 13:00:00"])
        // If no process writes any more, the last known state is better than none.
        #expect(state.rows(at: Self.now + .seconds(86_400)).first?.minute.loads == 100)
    }

    @Test func processIsDroppedOnceAnotherOneOfItsInstallationBegan() {
        func dump(_ instance: String, _ installation: String, began start: Int64, minutes: Int64) -> MetricsDump {
            Self.dump(instance, number: 9, minutes: minutes) { dump in
                (dump.installation, dump.started) = (installation, Dumps.noon + .seconds(start * 60))
            }
        }
        let old = dump("a", "0123456789", began: 0, minutes: 58)
        var state = Self.taking([.dump(old), .dump(dump("b", "fedcba9876", began: 0, minutes: 58))])
        #expect(state.count(at: Self.now).all == 2)
        _ = state.take([.dump(dump("c", "0123456789", began: 59, minutes: 60))], at: Self.now)
        #expect(state.count(at: Self.now) == (2, 2) && state.rows(at: Self.now).first?.minute.loads == 80)
        #expect(state.events.map(\.text) == ["shop 012345 began at 12:59:00", "shop 012345 has ended"])
        // Its last dump is renamed.
        #expect(!state.take([.dump(old)], at: Self.now) && state.count(at: Self.now).all == 2)
    }

    @Test func processWithoutDumpsForAnHourHasEnded() {
        var state = Self.taking([.dump(Self.dump("a", number: 60)), .dump(Self.dump("b", number: 60))])
        let later = Self.now + .seconds(3_700)
        _ = state.take([.dump(Self.dump("b", number: 122, minutes: 121))], at: later)
        #expect(state.count(at: later) == (1, 1))
        #expect(state.events.map(\.text) == ["shop has written no dump since 13:00:00", "shop has ended"])
    }

    @Test func dumpsThatAreFarApartDoNotMakeAProcessSilent() {
        let state = Self.taking([.dump(Self.dump(number: 1))])
        #expect(state.count(at: Self.now + .seconds(2 * 3_600)) == (1, 1))
        #expect(state.count(at: Self.now + .seconds(4 * 3_600)) == (1, 0))
    }

    @Test func changesBetweenDumpsAreEvents() {
        let state = Self.taking(
            [.dump(Self.dump(number: 1, breaker: "closed"))],
            [
                .dump(
                    Self.dump(number: 2, breaker: "open", revision: "two") { dump in
                        dump.unusable = [UnusablePart(resource: "feed", part: "file")]
                        dump.logLost = 3
                        dump.resources[0].revisions[0].metrics.faults = [StoreFaultKey(tier: "file", kind: .read): 4]
                    })
            ],
            [.dump(Self.dump(number: 3, breaker: "open", revision: "two")), .dump(Self.dump("b"))])
        #expect(
            state.events.map(\.text) == [
                "feed: policy one network-first → two network-first", "feed: breaker closed → open",
                "feed: the store failed 4 ×", "feed: file cannot be used", "the log lost lines: 3",
                "feed: file works again", "shop began at 12:00:00",
            ])
    }

    @Test func numberOfKeptEventsIsLimited() {
        var state = TopState()
        for number in 0..<500 {
            _ = state.take(
                [.dump(Self.dump(number: number, breaker: number % 2 == 0 ? "open" : "closed"))], at: Self.now)
        }
        #expect(state.events.count == TopState.mostEvents && state.eventCount == 499)
    }

    // MARK: The screen

    @Test func screenFitsIntoAnySize() {
        var feeds = Self.dump(breaker: "open")
        feeds.resources = (0..<50).map { number in
            var resource = feeds.resources[0]
            resource.name = "resource-with-a-long-name-\(number)"
            return resource
        }
        let text = Self.text(Self.taking([.dump(feeds)], [.deleted(file: "metrics.json")]))
        for (columns, rows) in [(200, 60), (80, 24), (40, 10), (5, 3), (1, 1)] {
            let lines = text.screen(columns: columns, rows: rows)
            #expect(lines.count <= rows && lines.allSatisfy { $0.text.count <= columns })
        }
        #expect(text.screen(columns: 80, rows: 24).contains { $0.text.hasPrefix("and 46 more") })
        #expect(text.screen(columns: 80, rows: 24).last?.text.hasSuffix("metrics.json was deleted") == true)
    }

    @Test func screenShowsRatesTimesAgesStoresAndBreakers() {
        let lines = Self.text(Self.taking([.dump(Self.dump(breaker: "open"))])).screen(columns: 120, rows: 40)
        let text = lines.map(\.text).joined(separator: "\n")
        for part in ["1 process", "25.0 %", "120 ms", "2 h", "2.0 KB", "breaker open", "q quits"] {
            #expect(text.contains(part), "\(part)")
        }
        #expect(lines.filter { $0.text.hasPrefix("feed") }.allSatisfy { $0.colour == .alarm })
    }

    @Test func coloursCanBeTurnedOff() {
        let text = Self.text(Self.taking([.dump(Self.dump(breaker: "open"))]))
        #expect(text.drawing(columns: 80, rows: 24, isColoured: true).contains("\u{1B}[31m"))
        #expect(!text.drawing(columns: 80, rows: 24, isColoured: false).contains("\u{1B}[3"))
    }

    // MARK: The files

    /// The reading of a folder, an hour after its files were written.
    private static func changes(_ dumps: inout FollowedDumps) -> [String] {
        dumps.changes(at: .max).map { change in
            switch change {
            case .dump(let dump): "dump \(dump.number)"
            case .unreadable(let file, let reason): "\(URL(filePath: file).lastPathComponent): \(reason)"
            case .deleted(let file): "deleted \(URL(filePath: file).lastPathComponent)"
            case .foreign(let file): "foreign \(URL(filePath: file).lastPathComponent)"
            }
        }
    }

    @Test func filesAreReadAgainOnlyWhenTheyChange() throws {
        let dumps = try Dumps()
        var followed = FollowedDumps([dumps.folder.path]) { file throws(MetricsDump.Unreadable) in
            try DumpFile(path: file).dump()
        }
        #expect(Self.changes(&followed).isEmpty)
        try dumps.write("metrics.json", Self.dump(number: 1))
        try dumps.folder.write("{}", to: "notes.txt")
        #expect(Self.changes(&followed) == ["dump 1"])
        #expect(Self.changes(&followed).isEmpty)
        try dumps.write("metrics.json", Self.dump(number: 23))
        #expect(Self.changes(&followed) == ["dump 23"])
        try FileManager.default.removeItem(at: dumps.folder.url.appending(path: "metrics.json"))
        #expect(Self.changes(&followed) == ["deleted metrics.json"])
        #expect(Self.changes(&followed).isEmpty)
    }

    @Test func halfWrittenFileIsReportedOnlyIfItStaysSo() throws {
        let dumps = try Dumps()
        let whole = Self.dump(number: 7).json.text()
        var followed = FollowedDumps([dumps.folder.path + "/metrics.json"]) { file throws(MetricsDump.Unreadable) in
            try DumpFile(path: file).dump()
        }
        try dumps.folder.write(String(whole.prefix(100)), to: "metrics.json")
        #expect(Self.changes(&followed).isEmpty)
        try dumps.folder.write(whole, to: "metrics.json")
        #expect(Self.changes(&followed) == ["dump 7"])
        try dumps.folder.write(String(whole.prefix(200)), to: "metrics.json")
        #expect(Self.changes(&followed).isEmpty)
        let reported = Self.changes(&followed)
        #expect(reported.count == 1 && reported.first?.hasPrefix("metrics.json: not JSON") == true)
        #expect(Self.changes(&followed).isEmpty)
    }

    // MARK: The command

    @Test func onceShowsThePresentState() async throws {
        let dumps = try Dumps()
        try dumps.write("metrics.json", Self.dump())
        let output = await Output(["top", dumps.folder.path, "--once"])
        #expect(output.code == 0 && output.err.isEmpty)
        #expect(output.out.contains("1 min") && output.out.contains("feed") && !output.out.contains("\u{1B}"))
        let facts = try Facts(await Output(["top", dumps.folder.path, "--once", "--json"]).out)
        #expect(facts["resources"].items.first?["loads"].int == 40)
        #expect(facts["resources"].items.first?["load_p95_ms_by_outcome"]["live"].value as? Double != nil)
    }

    @Test func otherJSONFilesInAFolderAreToldOnce() async throws {
        let dumps = try Dumps()
        try dumps.write("metrics.json", Self.dump())
        for name in ["a", "b"] { try dumps.folder.write(#"{ "name": "package" }"#, to: name + ".json") }
        let output = await Output(["top", dumps.folder.path, "--once"])
        #expect(output.code == 0)
        #expect(output.err == "larder: 2 JSON files that are no metrics dumps were skipped\n")
        try dumps.folder.write(#"{ "format": "larder-metrics/2""#, to: "c.json")
        #expect(await Output(["top", dumps.folder.path, "--once"]).code == 1)
    }

    @Test func onceWithoutDumpFails() async throws {
        let folder = try Folder()
        let output = await Output(["top", folder.path + "/missing", "--once"])
        #expect(output.code == 1 && output.err.contains("/missing: there is no such file or folder"))
        try folder.write("{}", to: "other.json")
        #expect(await Output(["top", folder.path, "--once"]).code == 1)
    }

    @Test func pathThatDoesNotExistIsAnError() async throws {
        let folder = try Folder()
        let output = await Output(["top", folder.path + "/nope"])
        #expect(output.code == 1 && output.out.isEmpty)
        #expect(
            output.err
                == "larder: \(folder.path)/nope: there is no such file or folder; top takes a folder of dumps, or a dump\n"
        )
    }

    @Test func waitForTheFirstDumpIsToldOnce() async throws {
        let folder = try Folder()
        let (err, rounds) = (Locked(""), Locked(0))
        var terminal = Terminal(
            out: { _ in }, err: { bytes in err.withLock { $0 += String(decoding: bytes, as: UTF8.self) } })
        terminal.pause = { _ in
            if rounds.withLock({ rounds in
                rounds += 1
                return rounds
            }) == 3 {
                throw CancellationError()
            }
        }
        _ = await LarderCommand.run(["top", folder.path], environment: [:], terminal: terminal)
        #expect(err.withLock { $0 }.hasPrefix("waiting for a dump in \(folder.path)\n"))
        #expect(err.withLock { $0 }.ranges(of: "waiting").count == 1)
    }

    @Test func resourceThatOnlyPrefetchesSaysSo() {
        let dump = Self.dump { dump in
            var minute = ResourceMetrics()
            minute[.prefetched] = 24
            dump.resources[0].revisions[0].windows[.minute] = minute
        }
        let text = Self.text(Self.taking([.dump(dump)]))
        #expect(text.lines(after: 0) == ["13:00:00 feed: 24 copies prefetched, no loads"])
        #expect(
            text.screen(columns: 200, rows: nil).contains {
                $0.text.hasPrefix("feed ") && $0.text.contains("24 copies prefetched, no loads")
            })
    }

    @Test(arguments: [[], ["x", "--interval", "1ms"], ["x", "--interval", "soon"]])
    func wrongUseIsRefused(_ arguments: [String]) async {
        #expect(await Output(["top"] + arguments).code == 2)
    }

    @Test func linesFollowDumpsWhenTheOutputIsNoTerminal() async throws {
        let dumps = try Dumps()
        try dumps.write("metrics.json", Self.dump(number: 1, breaker: "closed"))
        let out = Locked("")
        var terminal = Terminal(
            out: { bytes in out.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }, err: { _ in })
        terminal.now = { Self.now }
        let rounds = Locked(0)
        let next = Self.dump(number: 2, breaker: "open")
        terminal.pause = { _ in
            switch rounds.withLock({ rounds in
                rounds += 1
                return rounds
            }) {
            case 1: break
            case 2: try dumps.write("metrics.json", next)
            default: throw CancellationError()
            }
        }
        _ = await LarderCommand.run(["top", dumps.folder.path], environment: [:], terminal: terminal)
        let lines = out.withLock { $0 }.split(separator: "\n")
        #expect(
            lines == [
                "13:00:00 feed: 40 loads in a minute; fell back 25.0 %; load p95 live 120 ms; stale copies up to 2 h",
                "13:00:00 event: feed: breaker closed → open",
                "13:00:00 feed: 40 loads in a minute; fell back 25.0 %; load p95 live 120 ms; stale copies up to 2 h; breaker open",
            ])
    }

    @Test func screenIsRedrawnWhenItsSizeChangesAndLeftWithQ() async throws {
        let dumps = try Dumps()
        try dumps.write("metrics.json", Self.dump())
        let (out, rounds, undone) = (Locked(""), Locked(0), Locked(0))
        var terminal = Terminal(
            out: { bytes in out.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }, err: { _ in })
        (terminal.now, terminal.uptime) = ({ Self.now }, { .zero })
        terminal.screen = Screen(
            size: { rounds.withLock { $0 } < 2 ? (80, 24) : (40, 8) },
            input: { _ in
                let round = rounds.withLock { round in
                    round += 1
                    return round
                }
                return round < 4 ? round == 2 ? .key(UInt8(ascii: "x")) : .nothing : .key(UInt8(ascii: "q"))
            },
            prepare: { { undone.withLock { $0 += 1 } } })
        let code = await LarderCommand.run(
            ["top", dumps.folder.path], environment: ["NO_COLOR": "1"], terminal: terminal)
        let text = out.withLock { $0 }
        #expect(code == 0 && undone.withLock { $0 } == 1)
        #expect(text.hasPrefix("\u{1B}[?1049h") && text.hasSuffix("\u{1B}[?1049l"))
        // Once at the start, and once for the new size.
        #expect(text.matches(of: /\u{1B}\[H/).count == 2)
        #expect(!text.contains("\u{1B}[1m"))
    }
}
