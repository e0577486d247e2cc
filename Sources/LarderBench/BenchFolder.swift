import LarderFoundation
import LarderSimulation

/// A folder of many different policies, some of which extend another file.
final class BenchFolder: Sendable {
    private let folder: TemporaryFolder
    let names: [String]
    var path: String { folder.path }
    var url: URL { folder.url }

    init(count: Int) throws {
        folder = try TemporaryFolder()
        names = (0..<count).map { "resource-\($0)" }
        try folder.write(Self.base, to: "_base.json")
        try folder.write("[1, 2, 3]", to: "Seeds/first.json")
        for number in 0..<count { try edit(number, about: "Resource number \(number)") }
    }

    /// Changes the description in the policy of a resource.
    func edit(_ number: Int, about: String) throws {
        try folder.write(number % 3 == 0 ? short(number, about) : whole(number, about), to: names[number] + ".json")
    }

    private static let base = #"""
        {
          "around": [
            { "use": "breaker", "failures": 5, "rest": "30s" },
            { "use": "retry", "retries": 2, "backoff": "500ms", "factor": 2, "jitter": 0.1 },
            { "use": "timeout", "after": "8s" }
          ],
          "strategy": { "use": "network-first", "patience": "800ms" },
          "validators": [{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }, "checksum"],
          "store": { "use": "memory", "capacity": "20MB" }
        }
        """#

    /// A policy that extends another file.
    private func short(_ number: Int, _ about: String) -> String {
        #"""
        {
          "extends": "_base.json",
          "resource": "\#(names[number])",
          "about": "\#(about)",
          "origin": { "use": "sample", "payload": "feed", "latency": "\#(20 + number % 50)ms", "slowest": "1s" },
          "strategy": { "use": "network-first", "patience": "\#(300 + number % 500)ms" },
          "fallbacks": [{ "use": "constant", "value": { "items": [] } }]
        }
        """#
    }

    private func whole(_ number: Int, _ about: String) -> String {
        let origin =
            number % 3 == 1
            ? #"{ "use": "sample", "payload": "catalog", "latency": "40ms", "slowest": "2s", "failures": "1%" }"#
            : #"{ "use": "file", "path": "Seeds/first.json" }"#
        return #"""
            {
              "$schema": "policy.schema.json",
              "resource": "\#(names[number])",
              "about": "\#(about)",
              "origin": \#(origin),
              "around": [
                { "use": "breaker", "failures": \#(3 + number % 5), "rest": "30s" },
                { "use": "retry", "retries": 3, "backoff": "1s", "factor": 2, "jitter": 0.1 },
                { "use": "timeout", "after": "8s" }
              ],
              "strategy": { "use": "stale-while-revalidate", "patience": "\#(400 + number % 500)ms" },
              "validators": [
                { "use": "age", "fresh": "\#(1 + number % 60)m", "whileRevalidating": "1h", "onError": "7d" },
                "checksum"
              ],
              "store": { "use": "memory", "capacity": "20MB", "entries": 1000 },
              "fallbacks": [{ "use": "constant", "value": { "items": [], "total": \#(number) } }]
            }
            """#
    }
}
