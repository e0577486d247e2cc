import Larder

// The ids of times in a page: `#feed@2026-01-05T17:00` is a step of the chart of rates, and
// `#feed@2026-01-05T11:30/2026-01-05T18:00` an incident.

extension Report.Section {
    /// The name of the resource as a part of an id: all but letters, digits, dots and hyphens is written as `_` and the two
    /// digits of a byte.
    private var anchor: String {
        name.utf8.prefix(64).reduce(into: "") { text, byte in
            let character = Character(Unicode.Scalar(byte))
            if character.isASCII, character.isLetter || character.isNumber || character == "." || character == "-" {
                text.append(character)
            } else {
                text += "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }

    /// The id of a step that begins at a time.
    func id(of time: Timestamp) -> String { "\(anchor)@\(time.linked)" }

    /// The id of an incident; nil for the sum of lesser ones.
    func id(of incident: Incident) -> String? {
        incident.times.map { "\(anchor)@\($0.lowerBound.linked)/\($0.upperBound.linked)" }
    }

    /// A finding, with a link from the time of an incident to its row.
    func linked(_ finding: String) -> Markup {
        for incident in incidents where finding.hasPrefix(incident.title + ":") {
            guard let id = id(of: incident) else { break }
            return "<a href=\"#\(id)\">\(incident.title)</a>\(finding.dropFirst(incident.title.count).spaced)"
        }
        return Markup(finding[...].spaced)
    }

    /// The incidents in numbers; empty if there are none.
    var incidentTable: Markup {
        guard !incidents.isEmpty else { return "" }
        var table = PageTable("Incidents of \(title), the worst first", ["when"] + incidents.columns.dropFirst())
        (table.stacks, table.isBelowChart) = (true, true)
        for (incident, row) in zip(incidents, incidents.rows) {
            table.add("\(incident.title)", Array(row.dropFirst()), id: id(of: incident))
        }
        return "<h3>Incidents</h3>\n\(table.markup)"
    }

    /// The first and the last third of the time; empty if they are much the same.
    var trendTable: Markup {
        guard let trend else { return "" }
        var table = PageTable("The first and the last third of the time", ["when"] + trend.columns.dropFirst())
        for row in trend.rows { table.add("\(row[0])", Array(row.dropFirst())) }
        return table.markup
    }
}

extension Timestamp {
    fileprivate var linked: String { "\(date)T\(time)" }
}

extension Substring {
    /// The text with spaces before percent signs at which no line breaks.
    fileprivate var spaced: String { String(self).replacing(" %", with: "\u{A0}%") }
}
