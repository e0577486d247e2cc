import Larder

/// The hit ratio of an eviction for a trace.
struct HitRatio {
    var trace: String
    var eviction: String
    var capacity: Int
    var isWeighted: Bool
    private var requests = 0
    private var hits = 0
    private var bytes = 0
    private var hitBytes = 0

    init(trace: String, eviction: String, capacity: Int, isWeighted: Bool) {
        (self.trace, self.eviction, self.capacity, self.isWeighted) = (trace, eviction, capacity, isWeighted)
    }

    mutating func asked(bytes: Int, isHit: Bool) {
        requests += 1
        self.bytes += bytes
        guard isHit else { return }
        hits += 1
        hitBytes += bytes
    }

    private var ratio: Double { Double(hits) / Double(max(1, requests)) }
    private var byteRatio: Double { Double(hitBytes) / Double(max(1, bytes)) }

    var json: JSON {
        .present([
            "trace": .string(trace), "eviction": .string(eviction), "capacity": .int(capacity),
            "requests": .int(requests), "hits": .int(hits), "ratio": .number(ratio),
            "byte_ratio": isWeighted ? .number(byteRatio) : nil,
        ])
    }

    /// A table with a line for each.
    static func text(_ rows: [HitRatio]) -> String {
        let isWeighted = rows.contains(where: \.isWeighted)
        let head = ["trace", "eviction", "capacity", "requests", "hits", "ratio"] + (isWeighted ? ["bytes"] : [])
        let cells = rows.map { row in
            [row.trace, row.eviction, "\(row.capacity)", "\(row.requests)", "\(row.hits)", percent(row.ratio)]
                + (isWeighted ? [percent(row.byteRatio)] : [])
        }
        return table([head] + cells, atLeft: 2)
    }

    private static func percent(_ ratio: Double) -> String {
        let hundredths = Int((ratio * 10_000).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) %"
    }
}
