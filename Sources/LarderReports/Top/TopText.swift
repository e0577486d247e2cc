package import LarderSystem
package import Larder

/// The texts of `larder top`: a whole screen, or lines.
package struct TopText {
    /// The colour of a line.
    package enum Colour: String {
        case plain = ""
        case title = "\u{1B}[1m"
        case notice = "\u{1B}[33m"
        case alarm = "\u{1B}[31m"
    }

    let state: TopState
    let now: Timestamp
    let paths: [String]

    package init(state: TopState, now: Timestamp, paths: [String]) {
        (self.state, self.now, self.paths) = (state, now, paths)
    }

    private var rows: [TopState.Row] { state.rows(at: now) }

    // MARK: A screen

    /// Returns the lines of a screen, none of which is longer than the screen is wide.
    ///
    /// - Parameter rows: the number of lines, or nil for as many as are needed.
    package func screen(columns: Int, rows limit: Int?) -> [(text: String, colour: Colour)] {
        let all = rows
        // Three tables with a title each, an empty line after each, the heading, and some room for events.
        let room = limit.map { max(1, ($0 - 10) / 3) } ?? .max
        let shown = all.prefix(room)
        var lines: [(text: String, colour: Colour)] = [(heading + (limit == nil ? "" : "  q quits"), .title)]
        if all.isEmpty {
            lines.append((waiting, .plain))
        }
        for table in all.isEmpty ? [] : [rateRows(shown), timeRows(shown), storeRows(shown)] {
            lines.append(("", .plain))
            for (number, line) in Self.fitting(table, columns).enumerated() {
                lines.append((line, number == 0 ? .title : shown[number - 1].colour))
            }
        }
        if shown.count < all.count { lines.append(("and \(all.count - shown.count) more resources", .notice)) }
        if !state.events.isEmpty {
            let left = limit.map { max(0, $0 - lines.count - 2) } ?? 20
            lines += left > 0 ? [("", .plain), ("events", .title)] : []
            lines += state.events.suffix(left).map { ("\($0.at.clock)  \($0.text)", .plain) }
        }
        return lines.prefix(limit ?? .max).map { (String($0.text.prefix(columns)), $0.colour) }
    }

    /// The bytes that draw a screen in place of the one before.
    package func drawing(columns: Int, rows: Int, isColoured: Bool) -> String {
        let lines = screen(columns: columns, rows: rows).map { text, colour in
            colour == .plain || !isColoured ? text : colour.rawValue + text + "\u{1B}[0m"
        }
        // Each line is cleared after its text, and the rest of the screen after the last line, so that nothing flickers.
        return "\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
    }

    /// The line as long as there is no dump.
    package var waiting: String { "waiting for a dump in \(paths.map(\.printable).joined(separator: ", "))" }

    private var heading: String {
        let (count, current) = state.count(at: now)
        guard let newest = state.newest else { return "larder top  \(now.clock) UTC" }
        let of = current < count ? " of \(count)" : ""
        let processes = "\(current)\(of) \(count == 1 ? "process" : "processes")"
        let age = newest > now ? "written in the future" : "written \(Optional(now - newest).aged) ago"
        return "larder top  \(now.clock) UTC  \(processes), newest dump \(age)"
    }

    /// Returns the lines of a table without the last columns that do not fit.
    private static func fitting(_ table: [[String]], _ columns: Int) -> [String] {
        var table = table
        while true {
            let lines = Table(table).lines
            guard let width = lines.first?.count, width > columns, let count = table.first?.count, count > 1 else {
                return lines
            }
            table = table.map { Array($0.dropLast()) }
        }
    }

    /// The rates in the order of importance, because the last columns may not fit.
    private static let rates = Rate.all.filter { $0.whole != .refreshes } + Rate.all.filter { $0.whole == .refreshes }

    private func rateRows(_ rows: ArraySlice<TopState.Row>) -> [[String]] {
        [["1 min", "loads"] + Self.rates.map { $0.name.replacing("_rate", with: "") }]
            + rows.map { row in
                [row.name.printable, row.prefetched ?? row.minute.loads.grouped]
                    + Self.rates.map { row.minute[$0.whole] == 0 ? "–" : row.minute[$0].shown }
            }
    }

    private func timeRows(_ rows: ArraySlice<TopState.Row>) -> [[String]] {
        [["1 min p95", "load"] + Outcome.allCases.map(\.rawValue) + ["origin", "stale age", "fresh age"]]
            + rows.map { row in
                let outcomes = Outcome.allCases.map { row.minute.latency[$0]?.percentile(0.95).waited ?? "–" }
                let ages = [Freshness.stale, .fresh].map { row.minute.ages[$0]?.percentile(0.95).aged ?? "–" }
                return [row.name.printable, row.minute.load(percentile: 0.95).waited] + outcomes
                    + [row.minute.originLatency.percentile(0.95).waited] + ages
            }
    }

    private func storeRows(_ rows: ArraySlice<TopState.Row>) -> [[String]] {
        let hasChanges = rows.contains { $0.gauges[.changesWaiting] != nil }
        return [["now", "in flight", "entries", "stored"] + (hasChanges ? ["changes wait"] : []) + ["levels"]]
            + rows.map { row in
                let levels = row.unusualLevels
                return [
                    row.name.printable, "\(row.inFlight)", row.store.entries.grouped,
                    UInt64(clamping: row.store.bytes).weight,
                ] + (hasChanges ? [row.changesWaiting ?? "–"] : []) + [
                    levels.isEmpty ? (row.levels.isEmpty ? "–" : "usual") : levels.joined(separator: ", ")
                ]
            }
    }

    // MARK: Lines

    /// The lines for an output that is no terminal: new events, and one for each resource.
    package func lines(after shown: Int) -> [String] {
        state.events.suffix(state.eventCount - shown).map { "\($0.at.clock) event: \($0.text)" }
            + rows.map { row in
                let rates = Rate.all.filter { row.minute[$0.part] > 0 }.map { "\($0.title) \(row.minute[$0].shown)" }
                let times = Outcome.allCases.compactMap { outcome in
                    row.minute.latency[outcome]?.percentile(0.95).map { "\(outcome.rawValue) \(Optional($0).waited)" }
                }
                let age = row.minute.ages[.stale]?.percentile(0.95).map { "stale copies up to \(Optional($0).aged)" }
                let loads = counted(Int(clamping: row.minute.loads), one: "load")
                let parts =
                    [row.prefetched ?? "\(loads) in a minute"] + rates
                    + (times.isEmpty ? [] : ["load p95 " + times.joined(separator: ", ")]) + [age].compactMap { $0 }
                    + [row.changesWaiting.map { "changes wait: \($0)" }].compactMap { $0 } + row.unusualLevels
                return "\(now.clock) \(row.name.printable): " + parts.joined(separator: "; ")
            }
    }

    /// The state as JSON: what the screen shows, in numbers.
    package var json: JSON {
        let (count, current) = state.count(at: now)
        return [
            "at": .number(now.inSeconds), "processes": .int(count), "current": .int(current),
            "resources": .list(rows.map(\.json)),
            "events": .list(state.events.map { ["at": .number($0.at.inSeconds), "text": .string($0.text)] }),
        ]
    }
}

extension TopState.Row {
    /// `24 copies prefetched, no loads`, if the resource only prefetched in the last minute; nil otherwise.
    fileprivate var prefetched: String? {
        guard minute.loads == 0, minute[.prefetched] > 0 else { return nil }
        return counted(Int(clamping: minute[.prefetched]), one: "copy", many: "copies") + " prefetched, no loads"
    }

    /// `3, oldest 2 h`, or `0`; nil if the resource has no changes that could wait.
    fileprivate var changesWaiting: String? {
        guard let count = gauges[.changesWaiting]?.whole else { return nil }
        let oldest = gauges[.oldestChange].map { ", oldest \(Gauge.oldestChange.figure($0))" } ?? ""
        return count > 0 ? "\(count)\(oldest)" : "\(count)"
    }

    /// Red if users get errors or a level is at its worst, yellow if they get copies in place of calls.
    fileprivate var colour: TopText.Colour {
        let isWorst = levels.contains { level, counts in level.values.last.map { counts[$0] != nil } ?? false }
        if minute[.failures] > minute[.answers] || isWorst { return .alarm }
        return minute[.fallbacks] > 0 || !unusualLevels.isEmpty ? .notice : .plain
    }

    fileprivate var json: JSON {
        .joined(
            ["resource": .string(name), "loads": .int(Int(clamping: minute.loads))],
            .each(Rate.all) { ($0.name, .number(minute[$0])) },
            [
                "load_p95_ms": minute.load(percentile: 0.95).milliseconds,
                "load_p95_ms_by_outcome": .each(Outcome.allCases) { outcome in
                    (outcome.rawValue, minute.latency[outcome]?.percentile(0.95).map { Optional($0).milliseconds })
                },
                "origin_p95_ms": minute.originLatency.percentile(0.95).milliseconds,
                "stale_age_p95_ms": minute.ages[.stale]?.percentile(0.95).milliseconds ?? .null,
                "in_flight": .int(inFlight), "store": ["entries": .int(store.entries), "bytes": .int(store.bytes)],
                "levels": .each(levels.sorted { $0.key.name < $1.key.name }) { level, counts in
                    (level.name, .each(level.values) { ($0, counts[$0].map(JSON.int)) })
                },
                "gauges": .each(gauges.sorted { $0.key.name < $1.key.name }) { ($0.key.name, .number($0.value)) },
            ])
    }
}
