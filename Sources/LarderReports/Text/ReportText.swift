import Larder

extension Report {
    /// The report as text: a paragraph for each resource, with its findings, advice and tables.
    public var text: String { lines.joined(separator: "\n") + "\n" }

    private var lines: [String] {
        var lines = [
            "\(times.spelled), "
                + (installations == 0 ? "" : "\(counted(installations, one: "installation")), ")
                + "\(counted(processes, one: "process", many: "processes")), \(counted(dumps, one: "dump"))"
                + (hosts.isEmpty ? "" : " from " + hostList)
        ]
        lines += exceptions + notes + [meaningOfFallingBack].compactMap { $0 }
        for channel in channels { lines += [""] + channel.lines }
        for section in sections { lines += [""] + section.lines }
        return lines
    }

    /// The meaning of a word that readers may take for the policy's `fallbacks`; nil if no load fell back.
    var meaningOfFallingBack: String? {
        guard sections.contains(where: { $0.total[.fallbacks] > 0 }) else { return nil }
        return
            "A load fell back if it got a copy, or the value of one of the policy's 'fallbacks', because a call failed, was "
            + "refused or took too long."
    }

    /// The names of the hosts. Of many, the first twelve.
    var hostList: String {
        let shown = hosts.prefix(12).map(\.printable).joined(separator: ", ")
        return hosts.count > 12 ? "\(shown) and \(hosts.count - 12) more" : shown
    }

    /// The number of files that were left out, and the dumps that were set apart.
    private var exceptions: [String] {
        var lines: [String] = []
        let foreign = skipped.count(where: \.isForeign)
        let unreadable = skipped.count - foreign
        if unreadable > 0 {
            lines.append(
                unreadable == 1
                    ? "1 file is left out: it is not a dump or cannot be read."
                    : "\(unreadable) files are left out: they are not dumps or cannot be read.")
        }
        if foreign > 0 { lines.append(DumpFile.skipped(foreign: foreign) + ".") }
        for dump in apart.prefix(Self.mostNamed) { lines.append("Set apart: \(dump.file.printable): \(dump.reason)") }
        if apart.count > Self.mostNamed {
            lines.append("Set apart: \(counted(apart.count - Self.mostNamed, one: "more dump")) with wrong clocks")
        }
        return lines
    }

    /// The most files that a text names one by one.
    package static let mostNamed = 20
}

extension Report.Section {
    fileprivate var lines: [String] {
        let name = name.printable
        let heading = findings.enumerated().map { number, finding in
            (number == 0 ? name + ": " : String(repeating: " ", count: name.count + 2)) + finding
        }
        let whatIf =
            advice.map { "  what if: \($0.sentence)" } + (advice.isEmpty ? [] : ["    'larder advise' " + Advice.proof])
        let figures = total.loads > 0 ? figures : figuresWithoutLoads
        return heading + whatIf + figures.map { $0.isEmpty ? $0 : "  " + $0 }
    }

    /// The figures of a resource without loads: its prefetches, and the work of plugins.
    private var figuresWithoutLoads: [String] {
        let hasWork =
            total.pluginCounters.contains { total[$0] > 0 } || !gauges.isEmpty || !timingFigures.isEmpty
        let plugins = hasWork ? pluginLine.map { [$0] } ?? [] : []
        return [prefetchLines, syncLines, plugins].flatMap { $0.isEmpty ? [] : [""] + $0 }
    }

    private var prefetchLines: [String] {
        PrefetchFigures(total).map { Table([PrefetchFigures.title] + $0.rows { "\($0)" }).lines } ?? []
    }

    private var syncLines: [String] {
        guard let sync = SyncFigures(self) else { return [] }
        let changes = Table([SyncFigures.changesTitle, sync.changesRow { "\($0)" }], left: 0).lines + [""]
        return (sync.hasChanges ? changes : [])
            + Table([SyncFigures.runsTitle, sync.runsRow { "\($0)" }], left: 0).lines
    }

    private var figures: [String] {
        var lines = [""]
        lines += Table(Self.rateRows(self)).lines
        if !incidents.isEmpty { lines += [""] + Table([incidents.columns] + incidents.rows).lines }
        if let trend { lines += [""] + Table([trend.columns] + trend.rows).lines }
        for comparison in comparisons where comparison.isNext { lines += [""] + comparison.textLines }
        lines.append("")
        lines += Table(latencyRows).lines
        lines.append("")
        lines +=
            Table(
                [["", "p50", "p95", "p99", "count"]]
                    + [("fresh copies' age", Freshness.fresh), ("stale copies' age", .stale)].map { label, freshness in
                        let ages = total.ages[freshness] ?? Sketch(.age)
                        return [label] + [0.5, 0.95, 0.99].map { ages.percentile($0).aged } + ["\(ages.count)"]
                    }
            ).lines
        lines.append("")
        if let offline = OfflineFigures(total) {
            lines += Table([OfflineFigures.title, offline.row { "\($0)" }]).lines + [""]
        }
        if !prefetchLines.isEmpty { lines += prefetchLines + [""] }
        if let schedule = ScheduleFigures(total) {
            lines += Table([ScheduleFigures.title, schedule.row { "\($0)" }], left: 0).lines + [""]
        }
        if !syncLines.isEmpty { lines += syncLines + [""] }
        if !faultRows.isEmpty {
            lines += Table([["store failures", "could not", "times"]] + faultRows, left: 2).lines + [""]
        }
        lines.append(storeLine)
        if let pluginLine { lines.append(pluginLine) }
        return lines
    }

    /// The rates of all revisions together, and of each revision.
    fileprivate static func rateRows(_ section: Report.Section) -> [[String]] {
        let title = ["", "loads"] + Rate.all.map { $0.name.replacing("_rate", with: "") } + ["cancelled"]
        func row(_ label: String, _ metrics: ResourceMetrics) -> [String] {
            [label, "\(metrics.loads)"] + Rate.all.map { metrics[$0].percent } + ["\(metrics[.cancelled])"]
        }
        let counts = Rate.all.map { "\(section.total[$0.part])" }
        var rows = [
            title, row("rates", section.total),
            ["counts", "\(section.total.loads)"] + counts + ["\(section.total[.cancelled])"],
        ]
        if section.revisions.count > 1 {
            rows += section.revisions.map { row("\($0.label)", $0.metrics) }
        }
        return rows
    }

    fileprivate var latencyRows: [[String]] {
        func row(_ label: String, _ sketch: Sketch) -> [String] {
            [label] + [0.5, 0.95, 0.99].map { sketch.percentile($0).waited } + ["\(sketch.count)"]
        }
        var rows = [["", "p50", "p95", "p99", "count"], row("load", total.wholeLatency)]
        for outcome in Outcome.allCases {
            if let sketch = total.latency[outcome], sketch.count > 0 {
                rows.append(row("  " + outcome.rawValue, sketch))
            }
        }
        rows.append(row("origin", total.originLatency))
        if total.originFailureLatency.count > 0 {
            rows += [row("  answered", total.originAnswerLatency), row("  failed", total.originFailureLatency)]
        }
        return rows
    }

    fileprivate var storeLine: String {
        let faults = total.faults.values.reduce(UInt64(0)) { $0.plus($1) }
        func told(_ count: UInt64, _ one: String) -> String { counted(Int(clamping: count), one: one) }
        return "store: \(counted(store.entries, one: "entry", many: "entries")), \(counted(store.bytes, one: "byte")), "
            + "\(store.evictions) evicted, \(told(faults, "fault")), \(total[.corrupt]) damaged; "
            + "origin: \(told(total[.originCalls], "call")), \(total[.originErrors]) failed, "
            + "\(total[.unchanged]) unchanged, \(told(total[.coalesced], "load")) joined another's"
    }

    private var faultRows: [[String]] {
        total.faults.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { fault, count in
            [fault.tier.printable, fault.kind.rawValue, "\(count)"]
        }
    }

    /// The metrics of plugins; nil if there are none.
    private var pluginLine: String? {
        let counters = total.pluginCounters.filter { total[$0] > 0 }.map { "\($0.title) \($0.figure(total[$0]))" }
        let levels = levelCounts.map { level, counts in
            level.name + ": " + counts.map { "\($0.processes) \($0.value)" }.joined(separator: ", ")
        }
        let parts =
            (counters.isEmpty ? [] : [counters.joined(separator: ", ")]) + levels
            + gaugeFigures.map { "\($0.gauge.title): \($0.value)" }
            + timingFigures.map { "\($0.timing.title): \($0.value)" }
        return parts.isEmpty ? nil : "plugins: " + parts.joined(separator: "; ")
    }
}

extension RevisionComparison {
    fileprivate var textLines: [String] {
        ["policy \(title):"] + changedLines.map { "  " + $0 } + [basis]
            + (lines.isEmpty ? [] : Table([Self.columns] + rows).lines)
    }
}

extension Report.Revision {
    /// `03284ee171ef`, or a text that stands for the oldest revisions.
    package var title: String { name.isEmpty ? "earlier" : name.printable }

    /// `03284ee171ef network-first, now`.
    var label: String {
        title + (strategy.isEmpty ? "" : " " + strategy.printable) + (isCurrent ? ", now" : "")
    }
}
