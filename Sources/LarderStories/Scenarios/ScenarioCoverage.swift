package import Larder
import LarderSimulation

/// The kinds of situations of one policy, and those that no scenario plays.
package struct ScenarioCoverage {
    package let resource: String
    let kinds: Int
    let missing: [SituationKinds.Kind]
    private let contentType: String
    /// The reason why no situations are played; nil if they are.
    private let unplayed: String?

    /// - Parameter results: the results of all scenarios.
    /// - Throws: `PolicyError` if the policy cannot be composed.
    package init(of policy: SimulatedPolicy, _ results: [ScenarioReport.Result]) throws {
        let all = try SituationKinds(of: policy)
        resource = policy.resource
        contentType = policy.contentType
        unplayed = policy.unplayed
        kinds = all.all.count
        missing = all.missing(
            in: results.filter { $0.file.resource == policy.resource }.flatMap { result in
                result.plays(keepingFiles: policy.keepsFiles)
            })
    }

    /// The number of kinds that are played, and a line for each of the others.
    package var lines: [String] {
        if let unplayed { return ["\(resource): \(unplayed)"] }
        let sum = "\(resource): \(kinds - missing.count) of \(counted(kinds, one: "kind")) of situations are played"
        return [sum] + missing.map { "  not played: \($0.name): \($0.outcome)" }
    }

    var json: JSON {
        [
            "resource": .string(resource), "kinds": .int(kinds), "played": .int(kinds - missing.count),
            "missing": .list(missing.map { ["situation": .string($0.name), "outcome": .string($0.outcome)] }),
        ]
    }

    /// A scenario for each kind that is not played, which expects the present outcome. Nil if there is none. A load
    /// that never ends has no scenario, because a user should not expect it.
    package var scenarios: JSON? {
        let scenarios = missing.compactMap { kind -> JSON? in
            let (situation, seen) = kind.example
            return seen.expectation.map {
                situation.scenario(named: situation.inWords, expecting: $0, contentType: contentType)
            }
        }
        if scenarios.isEmpty { return nil }
        return [
            "resource": .string(resource), "about": .string("Situations of \(resource) that no other scenario plays"),
            "scenarios": .list(scenarios),
        ]
    }
}

extension ObservedLoad {
    /// The observation as an expectation; nil for a load that never ends.
    fileprivate var expectation: JSON? {
        let takes = waited.map { JSON.string($0.spelled) }
        return switch ending {
        case .value: .present(["freshness": isStale ? "stale" : "fresh", "takes": takes])
        case .error(let code, let status):
            .present(["error": .string(code), "status": status.map(JSON.int), "takes": takes])
        case .never: nil
        }
    }
}
