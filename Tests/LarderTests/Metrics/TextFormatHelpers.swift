import LarderFoundation
import Larder
import Testing

@testable import LarderPlugins

/// One revision of a dump that is written by hand.
struct HandMade {
    var name: String
    var revision = "r1"
    var counters = ""
    var faults = ""
    var latency = ""

    fileprivate var json: String {
        """
        { "resource": "\(name)", "in_flight": 1,
          "store": { "entries": 2, "bytes": 20, "hits": 3, "misses": 4, "evictions": 5 },
          "revisions": [{ "revision": "\(revision)", "strategy": "cache-first", "current": true, "windows": {},
            "periods": [], "total": { "counters": { \(counters) }, "faults": [\(faults)],
              "latency": { \(latency.isEmpty ? "" : "\"live\": \(latency)") }, "ages": {},
              "origin_answer_latency": [0, "", ""] } }] }
        """
    }
}

/// A dump of one resource with these revisions.
func dump(_ revisions: HandMade...) throws -> MetricsDump {
    let counter = Counter.breakerOpenMilliseconds
    let declared = #""declared": { "counters": { "\#(counter.name)": "\#(counter.help)" } },"#
    let dumps = try revisions.map { revision in
        try MetricsDump(
            reading: Array(
                """
                { "format": "\(MetricsDump.format)", "process": "p", "instance": "i", "started": 1, "written": 2, \(declared)
                  "resources": [\(revision.json)] }
                """.utf8))
    }
    var dump = try #require(dumps.first)
    for other in dumps.dropFirst() {
        dump.resources[0].revisions += other.resources.flatMap(\.revisions)
    }
    return dump
}

/// The lines of a text about these families.
func lines(_ text: String, of names: [String]) -> String {
    text.split(separator: "\n").filter { line in
        names.contains { name in
            let word =
                line.hasPrefix("# ") ? line.split(separator: " ").dropFirst(2).first ?? "" : line.prefix { $0 != "{" }
            return [name, name + "_total", name + "_info", name + "_seconds", name + "_seconds_total", name + "_bytes"]
                .contains { word == "larder_" + $0 } || word == "larder_\(name)_bytes_total"
        }
    }.joined(separator: "\n")
}

/// The buckets of the only histogram in a text.
func buckets(_ text: String) throws -> [(limit: Double, count: UInt64)] {
    try text.split(separator: "\n").filter { $0.contains("_bucket{") }.map { line in
        let parts = line.split(separator: "\"")
        let limit = parts[1] == "+Inf" ? Double.infinity : try #require(Double(parts[1]))
        return (limit, try #require(UInt64(line.split(separator: " ")[1])))
    }
}
