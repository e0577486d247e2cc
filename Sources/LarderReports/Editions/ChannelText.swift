import Larder

// Channels in words, rows and JSON.

extension ChannelFigures {
    static let columns = ["policies", "arms", "not used", "run on", "on trial", "confirmed", "offered to"]
    /// The number of columns with words.
    private static let words = 3

    /// `Editions of the channel shop`.
    var heading: String { "Editions" + (name.isEmpty ? "" : " of the channel \(name)") }

    /// The installations and the state of the channel on them.
    var facts: String {
        var parts = [counted(installations, one: "installation")]
        if let oldest, let newest {
            parts.append("newest revision \(newest.revision) on \(newest.installations.grouped)")
            if oldest.revision < newest.revision {
                parts.append("oldest revision \(oldest.revision) on \(oldest.installations.grouped)")
            }
        } else {
            parts.append("no revision of the channel")
        }
        if !failures.isEmpty { parts.append("channel not used: " + failures.inWords) }
        return parts.joined(separator: "; ")
    }

    var rows: [[String]] {
        editions.map { edition in
            let isOwn = edition.name == Edition.own
            return [edition.title] + [edition.arms, edition.fates].map { $0.isEmpty ? "–" : $0.inWords }
                + [edition.installations.grouped]
                + [edition.trial, edition.confirmed, edition.offered].map { isOwn ? "–" : $0.grouped }
        }
    }

    /// The lines of a text report.
    var lines: [String] {
        var lines =
            ["\(heading): \(facts)", ""] + Table([Self.columns] + rows, left: Self.words).lines.map { "  " + $0 }
        for edition in editions where !edition.comparisons.isEmpty {
            lines += ["", "  \(edition.title):"]
            lines += Table([EditionComparison.columns] + edition.comparisons.map(\.row), left: 2).lines.map {
                "  " + $0
            }
        }
        return editions.allSatisfy(\.comparisons.isEmpty) ? lines : lines + ["", "  " + EditionComparison.note]
    }

    var markup: Markup {
        var table = PageTable("Installations by their policies", Self.columns, words: Self.words)
        table.stacks = true
        for row in rows { table.add("\(row[0])", Array(row.dropFirst())) }
        let compared = editions.filter { !$0.comparisons.isEmpty }.map { edition in
            var table = PageTable(
                "Loads under \(edition.title), and without it", EditionComparison.columns, words: 2)
            table.stacks = true
            for row in edition.comparisons.map(\.row) { table.add("\(row[0])", Array(row.dropFirst())) }
            return table.markup
        }
        let note: Markup = compared.isEmpty ? "" : "<p class=\"well\">\(EditionComparison.note)</p>"
        return """
            <section class="editions" aria-label="\(heading)">
            <h2>\(heading)</h2>
            <p>\(facts).</p>
            \(table.markup)
            \(Markup(compared))
            \(note)
            </section>
            """
    }

    var json: JSON {
        func counts(_ counts: [String: Int]) -> JSON {
            .each(counts.sorted { $0.key < $1.key }) { ($0.key, .int($0.value)) }
        }
        func revision(_ known: (revision: Int, installations: Int)?) -> JSON {
            known.map { ["revision": .int($0.revision), "installations": .int($0.installations)] } ?? .null
        }
        return [
            "channel": .string(name), "installations": .int(installations), "oldest": revision(oldest),
            "newest": revision(newest), "failures": counts(failures),
            "editions": .list(
                editions.map { edition in
                    [
                        "edition": .string(edition.name), "installations": .int(edition.installations),
                        "trial": .int(edition.trial), "confirmed": .int(edition.confirmed),
                        "offered": .int(edition.offered), "arms": counts(edition.arms), "fates": counts(edition.fates),
                        "resources": .list(edition.comparisons.map(\.json)),
                    ]
                }),
        ]
    }
}
