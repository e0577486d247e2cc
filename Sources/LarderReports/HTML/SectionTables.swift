import Larder

// The figures in the section of a resource.

extension Report.Section {
    /// The rates, in large type.
    var tiles: Markup {
        func tile(_ name: Markup, metric: Markup, value: String, detail: String) -> Markup {
            """
            <div><dt>\(name) <code>\(metric)</code></dt><dd><strong>\(value)</strong> <small>\(detail)</small></dd></div>
            """
        }
        func tile(_ rate: Rate) -> Markup {
            tile(
                "\(rate.title.prefix(1).uppercased() + rate.title.dropFirst())", metric: "\(rate.name)",
                value: total[rate.whole] == 0 ? "–" : total[rate].shown,
                detail: "\(total[rate.part].grouped) of \(total[rate.whole].grouped)")
        }
        let tiles =
            Rate.all.map(tile) + [
                tile(
                    "All loads", metric: "loads", value: total.loads.grouped,
                    detail: "and \(total[.cancelled].grouped) cancelled")
            ]
        return "<dl class=\"tiles\">\n\(Markup(tiles))\n</dl>"
    }

    /// The latency of loads beside the latency of the origin.
    var latencies: Markup {
        var table = PageTable("How long it took", ["", "p50", "p95", "p99", "count"])
        func add(_ label: Markup, _ sketch: Sketch) {
            table.add(label, [0.5, 0.95, 0.99].map { sketch.percentile($0).waited } + [sketch.count.grouped])
        }
        add("load", total.wholeLatency)
        for outcome in Outcome.allCases {
            if let sketch = total.latency[outcome], sketch.count > 0 { add("<span>\(outcome.rawValue)</span>", sketch) }
        }
        add("origin", total.originLatency)
        if total.originFailureLatency.count > 0 {
            add("<span>answered</span>", total.originAnswerLatency)
            add("<span>failed</span>", total.originFailureLatency)
        }
        return "<p>\(hidden)</p>\n\(table.markup)"
    }

    /// The time without a network; empty if there was none.
    var offline: Markup {
        guard let offline = OfflineFigures(total) else { return "" }
        var table = PageTable("Time without a network, and the loads in it by outcome", OfflineFigures.title)
        table.stacks = true
        let row = offline.row(\.grouped)
        table.add("\(row.first ?? "")", Array(row.dropFirst()))
        return "<h3>Without a network</h3>\n\(table.markup)"
    }

    /// The uses of prefetched copies; empty if nothing was prefetched.
    var prefetches: Markup {
        guard let prefetches = PrefetchFigures(total) else { return "" }
        var table = PageTable("Uses of prefetched copies", PrefetchFigures.title)
        table.stacks = true
        for row in prefetches.rows(\.grouped) { table.add("\(row.first ?? "")", Array(row.dropFirst())) }
        return "<h3>Prefetched copies</h3>\n\(table.markup)"
    }

    private var hidden: String {
        guard let origin = total.originAnswerLatency.percentile(0.95), let load = total.load(percentile: 0.95)
        else { return "The origin answered no call." }
        let both =
            "95 of 100 loads took at most \(Optional(load).waited) (load p95). 95 of 100 calls that the origin answered took "
            + "at most \(Optional(origin).waited) (\(total.answeredP95Name))."
        return load < origin ? "\(both) The cache hid the difference of \(Optional(origin - load).waited)." : both
    }

    /// The revisions of the policy side by side, the oldest first. A single one has the figures of the whole section.
    var changes: Markup {
        if let only = revisions.first, revisions.count == 1 {
            let strategy = only.strategy.isEmpty ? "" : ", strategy \(only.strategy.printable)"
            return "<p>The policy did not change: revision \(only.title)\(strategy).</p>"
        }
        var table = PageTable(
            "Before and after each change of the policy",
            [""] + revisions.map { $0.title + ($0.isCurrent ? " (now)" : "") })
        func add(_ label: Markup, _ cell: (Report.Revision) -> String) { table.add(label, revisions.map(cell)) }
        add("strategy") { $0.strategy.isEmpty ? "–" : $0.strategy.printable }
        add("from") { $0.times.map { "\($0.lowerBound.date) \($0.lowerBound.time)" } ?? "–" }
        add("to") { $0.times.map { "\($0.upperBound.date) \($0.upperBound.time)" } ?? "–" }
        add("loads") { $0.metrics.loads.grouped }
        for rate in Rate.all { add("\(rate.title)") { $0.metrics[rate].shown } }
        for (label, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
            add("load \(label)") { $0.metrics.load(percentile: share).waited }
        }
        add("origin p95") { $0.metrics.originLatency.percentile(0.95).waited }
        return table.markup
    }

    /// The last four revisions compared: each with the one before it, then the others to be opened.
    var comparedRevisions: Markup {
        Markup(
            comparisons.map { comparison in
                let heading = "Policy \(comparison.title)"
                return comparison.isNext
                    ? "<h4>\(heading)</h4>\n\(comparison.markup)"
                    : "<details><summary>\(heading)</summary>\n\(comparison.markup)</details>"
            })
    }

    // MARK: Stores and the origin

    /// The figures of the stores and of the calls to the origin.
    var housekeeping: Markup {
        """
        <h3>Store and origin</h3>
        <div class="trio">
        \(kept.markup)
        \(failures)
        \(calls.markup)
        </div>
        """
    }

    /// The refreshes on a schedule; empty if none was due.
    var scheduled: Markup {
        guard let schedule = ScheduleFigures(total) else { return "" }
        var table = PageTable("Refreshes that were due, by their end", ScheduleFigures.title)
        table.stacks = true
        let row = schedule.row(\.grouped)
        table.add("\(row.first ?? "")", Array(row.dropFirst()))
        return "<h3>Refreshes on a schedule</h3>\n\(table.markup)"
    }

    /// The changes that users made and a service gets later, and the runs that bring both together; empty if there are none.
    var synced: Markup {
        guard let sync = SyncFigures(self) else { return "" }
        func table(_ caption: String, title: [String], row: [String]) -> Markup {
            var table = PageTable(caption, title)
            table.stacks = true
            table.add("\(row.first ?? "")", Array(row.dropFirst()))
            return table.markup
        }
        return """
            <h3>Records and the service</h3>
            \(sync.hasChanges ? table("Changes by their end", title: SyncFigures.changesTitle, row: sync.changesRow(\.grouped)) : "")
            \(table("Times and runs", title: SyncFigures.runsTitle, row: sync.runsRow(\.grouped)))
            """
    }

    private var kept: PageTable {
        var table = PageTable("Store", ["what", "count"])
        table.add("entries kept", [store.entries.grouped])
        table.add("size of the entries", [UInt64(clamping: store.bytes).weight])
        table.add("evicted to make room", [store.evictions.grouped])
        table.add("reads that found a copy which may be shown", [store.hits.grouped])
        table.add("reads that found none", [store.misses.grouped])
        table.add("damaged copies removed", [total[.corrupt].grouped])
        return table
    }

    private var failures: Markup {
        let faults = total.faults.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        guard !faults.isEmpty else { return "<p class=\"well\">No store failed to read, write or remove.</p>" }
        var table = PageTable("Failures of stores", ["tier", "could not", "times"], words: 2)
        for (fault, count) in faults {
            table.add("\(fault.tier.printable)", [fault.kind.rawValue, count.grouped])
        }
        return table.markup
    }

    private var calls: PageTable {
        var table = PageTable("Origin", ["what", "count"])
        let core: [(Markup, Counter)] = [
            ("calls", .originCalls), ("calls failed", .originErrors), ("answers “unchanged”", .unchanged),
            ("loads that joined another’s call", .coalesced),
        ]
        for (label, counter) in core { table.add(label, [total[counter].grouped]) }
        for counter in total.pluginCounters where total[counter] > 0 {
            table.add(Markup(counter.label), [counter.figure(total[counter])])
        }
        for (gauge, value) in gaugeFigures { table.add(Markup(gauge.label), [value]) }
        for (timing, value) in timingFigures { table.add(Markup(timing.label), [value]) }
        table.add("received from it", [total[.bytesIn].weight])
        table.add("handed to callers", [total[.bytesOut].weight])
        return table
    }
}

extension RevisionComparison {
    fileprivate var markup: Markup {
        let list = changedLines.map { "<li><code>\($0)</code></li>" as Markup }
        var table = PageTable("Before and after \(title)", Self.columns)
        table.stacks = true
        for row in rows { table.add("\(row[0])", Array(row.dropFirst())) }
        return """
            <ul class="changes">\(Markup(list, separator: ""))</ul>
            <p>\(basis.prefix(1).uppercased() + basis.dropFirst()).</p>
            \(lines.isEmpty ? "" : table.markup)
            """
    }
}

extension ClosedRange<Timestamp> {
    /// `2026-01-05 14:00 UTC to 2026-01-06 14:00 UTC`, with seconds if both are in the same minute.
    var spelled: String {
        lowerBound.spelled == upperBound.spelled
            ? "\(lowerBound.spelledToSecond) to \(upperBound.spelledToSecond)"
            : "\(lowerBound.spelled) to \(upperBound.spelled)"
    }
}

extension Double {
    /// A share as ``percent`` writes it. A share that is more than nothing is at least `< 0.1 %`.
    var shown: String { self > 0 && self < 0.0005 ? "< 0.1 %" : percent }
}

extension BinaryInteger {
    /// The number with narrow spaces between thousands: `12 345`.
    var grouped: String {
        let digits = Array(String(self))
        return digits.enumerated().reduce(into: "") { text, digit in
            let isBoundary = digit.offset > 0 && (digits.count - digit.offset) % 3 == 0 && text != "-"
            text += (isBoundary ? "\u{202F}" : "") + String(digit.element)
        }
    }
}

extension UInt64 {
    /// A number of bytes: `1.2 MB`.
    package var weight: String {
        let units: [(String, UInt64)] = [
            ("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000),
        ]
        guard let (unit, size) = units.first(where: { self >= $0.1 }) else { return "\(self) bytes" }
        let tenths = self / (size / 10)
        return tenths >= 100 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
