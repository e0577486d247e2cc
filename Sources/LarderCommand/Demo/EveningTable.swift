import Larder
import LarderReports

/// The table of the demo's evening: what became of the changes of records, from the dumps of both devices.
struct EveningTable: Sendable {
    /// The ends of the changes of a resource.
    struct Row: Hashable, Sendable {
        var resource: String
        var made: UInt64 = 0
        var sent: UInt64 = 0
        var merged: UInt64 = 0
        var overtaken: UInt64 = 0
        var refused: UInt64 = 0
        var conflicts: UInt64 = 0
        var waiting: UInt64 = 0
        var unaccounted: UInt64 = 0
    }

    let rows: [Row]
    private let letters: Int

    init(_ account: DemoEvening.Account) {
        letters = account.letters
        let resources = account.dumps.flatMap(\.resources)
        rows = (account.dumps.first?.resources ?? []).map { first in
            var row = Row(resource: first.name)
            for resource in resources where resource.name == first.name {
                let total = resource.total
                func sum(_ name: String) -> UInt64 { total[Counter(name, "")] }
                func value(_ name: String) -> UInt64 {
                    UInt64(max(0, resource.gauges[Gauge(name, "")] ?? 0).rounded())
                }
                row.made += sum("sync_made")
                row.sent += sum("sync_accepted")
                row.merged += sum("sync_merged")
                row.overtaken += sum("sync_overtaken")
                row.refused += sum("sync_rejected")
                row.conflicts += sum("sync_conflicts")
                row.waiting += value("sync_pending")
                row.unaccounted += value("sync_unaccounted")
            }
            return row
        }
    }

    private static let figures: [(name: String, value: @Sendable (Row) -> UInt64)] = [
        ("made", { $0.made }), ("sent", { $0.sent }), ("merged", { $0.merged }), ("overtaken", { $0.overtaken }),
        ("refused", { $0.refused }), ("waiting", { $0.waiting }), ("conflicts", { $0.conflicts }),
        ("unaccounted", { $0.unaccounted }),
    ]

    /// The table and a sentence; empty if no policy has records.
    var lines: [String] {
        if rows.isEmpty { return [] }
        let cells = rows.map { row in [row.resource] + Self.figures.map { "\($0.value(row))" } }
        return Table([["changes of"] + Self.figures.map(\.name)] + cells).lines + ["", story]
    }

    private var story: String {
        func sum(_ value: (Row) -> UInt64) -> Int { Int(rows.reduce(0) { $0 + value($1) }) }
        let unaccounted = sum(\.unaccounted)
        let waiting = sum(\.waiting)
        return
            "In the evening a user made \(counted(sum(\.made), one: "change")) of records on two devices, most of them "
            + "in a tunnel and on a plane. \(sum(\.sent)) reached the service, and \(sum(\.merged)) became part of an "
            + "earlier one. \(sum(\.overtaken)) gave way to the other device, and the service refused \(sum(\.refused)): "
            + "the user finds \(counted(letters, one: "letter")) about that. \(waiting) \(waiting == 1 ? "waits" : "wait") "
            + "for a network. \(unaccounted == 0 ? "Nothing" : "\(unaccounted)") is unaccounted."
    }

    /// The table as JSON.
    var json: JSON {
        .list(
            rows.map { row in
                .joined(
                    ["resource": .string(row.resource)],
                    .each(Self.figures) { ($0.name, .int(Int(clamping: $0.value(row)))) })
            })
    }
}
