import LarderSystem
import Larder

extension Report {
    /// The report as one page without scripts, other files or network access.
    public var html: String {
        let page: Markup = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>Larder report, \(times.spelled)</title>
            <style>
            \(PageStyle.sheet)
            </style>
            </head>
            <body>
            <a class="skip" href="#main">Skip to the resources</a>
            \(header)
            \(overview)
            \(Markup(channels.map(\.markup)))
            <main id="main">
            \(Markup(sections.enumerated().map { section($1, number: $0 + 1) }))
            </main>
            </body>
            </html>

            """
        return page.html
    }

    // MARK: What it is about

    private var header: Markup {
        var facts: [(String, Markup)] = [
            ("Time", Markup(times.spelled))
        ]
        if installations > 0 { facts.append(("Installations", Markup(installations.grouped))) }
        facts += [
            ("Processes", Markup(processes.grouped)), ("Dumps", Markup(dumps.grouped)),
        ]
        if !hosts.isEmpty {
            facts.append(("Hosts", Markup(hostList)))
        }
        let list = facts.map { "<div><dt>\($0)</dt><dd>\($1)</dd></div>" as Markup }
        return """
            <header>
            <h1>Larder report</h1>
            <dl class="facts">\(Markup(list, separator: ""))</dl>
            \(remarks)
            </header>
            """
    }

    private var remarks: Markup {
        var remarks = notes.map { "<li>\($0)</li>" as Markup }
        remarks += Self.list("Left out", skipped.filter { !$0.isForeign }.map { ($0.file, $0.reason) })
        let foreign = skipped.count(where: \.isForeign)
        if foreign > 0 { remarks.append("<li>\(DumpFile.skipped(foreign: foreign))</li>") }
        remarks += Self.list("Set apart", apart.map { ($0.file, $0.reason) })
        guard !remarks.isEmpty else { return "" }
        return "<h2>Notes</h2><ul class=\"remarks\">\n\(Markup(remarks))\n</ul>"
    }

    /// Items that name files. Of many, the first ones.
    private static func list(_ title: String, _ files: [(file: String, reason: String)]) -> [Markup] {
        var items = files.prefix(mostNamed).map { file, reason in
            "<li>\(title): <code>\(file.printable)</code>: \(reason)</li>" as Markup
        }
        if files.count > mostNamed { items.append("<li>\(title): \((files.count - mostNamed).grouped) more</li>") }
        return items
    }

    // MARK: All resources at a glance

    private var overview: Markup {
        guard !sections.isEmpty else { return "<p>There are no resources in these dumps.</p>" }
        var table = PageTable(
            "All resources",
            ["resource", "fell back", "stale", "failed", "load p95", "origin p95", "hit", "loads"])
        table.stacks = true
        for (number, section) in sections.enumerated() {
            let total = section.total
            func share(_ rate: Rate) -> String { total[rate.whole] == 0 ? "–" : total[rate].shown }
            table.add(
                "<a href=\"#resource-\(number + 1)\">\(section.title)</a>",
                [
                    share(.fallbackRate), share(.staleRate), share(.failedRate),
                    total.load(percentile: 0.95).waited, total.originLatency.percentile(0.95).waited,
                    share(.hitRate), total.loads.grouped,
                ])
        }
        return """
            <nav aria-labelledby="overview">
            <h2 id="overview">Resources</h2>
            \(table.markup)
            \(meaningOfFallingBack.map { "<p class=\"well\">\($0)</p>" as Markup } ?? "")
            </nav>
            """
    }

    // MARK: One resource

    private func section(_ section: Section, number: Int) -> Markup {
        let id = "resource-\(number)"
        let times = sections.flatMap(\.periods).map(\.start)
        let common = times.min().flatMap { first in times.max().map { first...($0 + .seconds(300)) } }
        return """
            <section id="\(id)" aria-labelledby="\(id)-name">
            <h2 id="\(id)-name">\(section.title)</h2>
            <h3>What stands out</h3>
            <ul class="findings">
            \(Markup(section.findings.map { "<li>\(section.linked($0))</li>" as Markup }))
            </ul>
            \(section.proposals)
            \(section.total.loads > 0 ? section.figures(id, times: common) : section.prefetches)
            \(section.synced)
            \(section.housekeeping)
            </section>
            """
    }
}

extension Report.Section {
    /// The name in a form that can be shown.
    var title: String { name.printable }

    /// The effects that changes of the policy would have had.
    fileprivate var proposals: Markup {
        if advice.isEmpty { return "" }
        return """
            <h3>What if</h3>
            <ul class="findings">
            \(Markup(advice.map { "<li>\($0.sentence)</li>" as Markup }))
            </ul>
            <p class="well"><code>larder advise</code> \(Advice.proof).</p>
            """
    }

    fileprivate func figures(_ id: String, times: ClosedRange<Timestamp>?) -> Markup {
        let nothing: Markup = "<p>Nothing was counted.</p>"
        return """
            <h3>Rates</h3>
            \(tiles)
            <h3>Rates over time</h3>
            \(RatesChart(self, id: "\(id)-rates", times: times)?.markup ?? nothing)
            \(incidentTable)
            \(trendTable)
            \(offline)
            \(scheduled)
            \(prefetches)
            <div class="pair">
            <div><h3>Latency by outcome</h3>
            \(DistributionChart.latency(self, id: "\(id)-latency")?.markup ?? nothing)</div>
            <div><h3>What the cache hid</h3>
            \(latencies)</div>
            </div>
            <div class="pair">
            <div><h3>Age of served data</h3>
            \(DistributionChart.ages(self, id: "\(id)-ages")?.markup ?? "<p>No copy was served.</p>")</div>
            <div><h3>Policy revisions</h3>
            \(changes)</div>
            </div>
            \(comparedRevisions)
            """
    }
}
