import Larder
import LarderSystem

/// The policies of a made-up fleet: for each resource, the revisions in the order in which they are rolled out.
struct FleetPolicies: Sendable {
    /// The texts of a resource's revisions.
    struct Resource: Sendable {
        var name: String
        var revisions: [String]
    }

    var resources: [Resource]

    /// Reads revisions from files. Files with the same resource are its revisions, in this order.
    static func read(_ files: [String]) throws -> FleetPolicies {
        var resources: [Resource] = []
        for file in files {
            let bytes: [UInt8]
            do { bytes = try Disk.read(file, limit: JSONParser.mostBytes) } catch {
                throw PolicyError([Problem("the policy cannot be read: \(error)", file: file)])
            }
            let root: Node
            do { root = try JSONParser.parse(SourceText(name: file, bytes: bytes)) } catch {
                throw PolicyError([Problem(error)])
            }
            guard let name = root["resource"]?.string else {
                throw PolicyError([
                    Problem("the policy does not name its resource", file: file, expected: "\"resource\": \"feed\"")
                ])
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if let place = resources.firstIndex(where: { $0.name == name }) {
                resources[place].revisions.append(text)
            } else {
                resources.append(Resource(name: name, revisions: [text]))
            }
        }
        return FleetPolicies(resources: resources)
    }

    /// The number of revisions of the resource that has the most.
    var revisions: Int { resources.map(\.revisions.count).max() ?? 0 }

    /// Returns the text of each policy after a number of roll-outs.
    func texts(after rollouts: Int) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: resources.map { ($0.name, $0.revisions[min(rollouts, $0.revisions.count - 1)]) })
    }

    /// Three revisions of `feed`, and `catalog`. The second revision of `feed` does no harm. The third lets users wait three
    /// seconds for the origin instead of 800 ms.
    static let standard = FleetPolicies(resources: [
        Resource(
            name: "feed",
            revisions: [
                feed(patience: "800ms", backoff: "300ms"), feed(patience: "800ms", backoff: "500ms"),
                feed(patience: "3s", backoff: "500ms"),
            ]),
        Resource(
            name: "catalog",
            revisions: [
                #"""
                {
                  "resource": "catalog",
                  "origin": { "use": "sample", "payload": "catalog" },
                  "around": [{ "use": "timeout", "after": "4s" }],
                  "strategy": { "use": "stale-while-revalidate", "patience": "1s" },
                  "validators": [{ "use": "age", "fresh": "10m", "whileRevalidating": "2h", "onError": "6h" }],
                  "store": { "use": "memory", "capacity": "20MB" }
                }
                """#
            ]),
    ])

    private static func feed(patience: String, backoff: String) -> String {
        #"""
        {
          "resource": "feed",
          "origin": { "use": "sample", "payload": "feed" },
          "around": [
            { "use": "retry", "retries": 1, "backoff": "\#(backoff)" },
            { "use": "timeout", "after": "4s" }
          ],
          "strategy": { "use": "network-first", "patience": "\#(patience)" },
          "validators": [{ "use": "age", "fresh": "0s", "whileRevalidating": "10m", "onError": "1d" }],
          "store": { "use": "memory", "capacity": "5MB" }
        }
        """#
    }
}
