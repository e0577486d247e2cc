import FoundationEssentials
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand

/// A random policy that the composer accepts and whose proof is complete, with random promises.
struct ProofTrials {
    enum Kind: String { case soundness, replay, sharpness }

    private(set) var policy: RandomPolicy
    var random: SeededGenerator

    /// The size of a test: a small one by default, and a larger one with `LARDER_SLOW`. `LARDER_PROOFS` sets another number of
    /// policies, and the first seed: `50` or `50 200`. `LARDER_HISTORIES` sets that of histories. A process that plays
    /// millions of situations needs gigabytes, so that many policies are played in parts.
    static func size(_ kind: Kind) -> (first: Int, policies: Int, histories: Int) {
        let environment = ProcessInfo.processInfo.environment
        let words = environment["LARDER_PROOFS"]?.split(separator: " ").compactMap { Int($0) } ?? []
        // The policies of these seeds are found soon.
        let usual = kind == .sharpness && !isSlow ? 4 : 1
        let histories = environment["LARDER_HISTORIES"].flatMap(Int.init) ?? (isSlow ? 10_000 : 200)
        return (words.dropFirst().first ?? usual, words.first ?? (isSlow ? 20 : 3), histories)
    }

    init(_ seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        while true {
            policy = RandomPolicy(&random)
            if Self.isComplete(in: try folder(promising: [.hardest("waits")])) { return }
        }
    }

    /// Whether the composer accepts the policy in a folder, and whether a proof of it is complete. Copies that an app keeps
    /// are in no random history, and no operation of a store without a limit holds up the next load. Without `LARDER_SLOW` a proof that takes long does not count.
    static func isComplete(in folder: Folder) -> Bool {
        let reader = PolicyReader(registry: .standard, folder: folder.path, environment: [:])
        guard let read = reader.check("prices.json").policy,
            let policy = try? SimulatedPolicy(read, registry: .standard, files: folder.path, environment: [:])
        else { return false }
        return policy.gaps.allSatisfy { $0.contains("forgets copies") || $0.contains("has no 'limit'") }
            && (isSlow || PromiseProof.size(of: policy) <= mostSituations)
    }

    private static let isSlow = ProcessInfo.processInfo.environment["LARDER_SLOW"] != nil

    /// The largest number of situations of a proof that does not take long.
    private static let mostSituations = 4_000

    /// A folder with the policy and these promises.
    func folder(promising promises: [RandomPromise]) throws -> Folder {
        try Self.folder(policy, promising: promises)
    }

    static func folder(_ policy: RandomPolicy, promising promises: [RandomPromise]) throws -> Folder {
        let folder = try Folder(inMemory: true)
        try folder.write(policy.text(promising: promises), to: "prices.json")
        return folder
    }

    /// Returns random promises. Some have a limit that follows from the settings of the policy, so that they hold narrowly
    /// or are broken narrowly.
    mutating func promises() -> [RandomPromise] {
        var promises = ["waits", "waitsAtMost"].map { name in
            RandomPromise(name: name, limit: .time(.milliseconds(sum(of: policy.waits, upTo: 60_000))))
        }
        promises.append(RandomPromise(name: "callsPerLoad", limit: .calls(random.roll(7))))
        promises.append(
            RandomPromise(
                name: "freshWithin", limit: .time(.milliseconds(sum(of: policy.ageBorders, upTo: 1_000_000_000)))))
        let age = random.isOne(in: 2) ? 250_000_000_000 : sum(of: policy.ageBorders, upTo: 1_000_000_000)
        promises.append(RandomPromise(name: "neverOlderThan", limit: .time(.milliseconds(age))))
        // Nothing that is forbidden can be promised.
        let offline = random.isOne(in: 2) ? age : min(age, sum(of: policy.ageBorders, upTo: 1_000_000_000))
        if offline > 0 {
            promises.append(RandomPromise(name: "offlineFor", limit: .time(.milliseconds(offline))))
        }
        return promises
    }

    private mutating func sum(of times: [Int], upTo most: Int) -> Int {
        guard !times.isEmpty, random.roll(4) > 0 else { return random.time(upTo: most) }
        let sum = (0...random.pick([0, 0, 1, 2])).reduce(0) { sum, _ in sum + random.pick(times) }
        return max(0, sum + random.pick([0, 0, 1, -1]))
    }

    /// Returns the limits that promises need. A promise that no limit makes true has none.
    func needed(_ names: [String]) throws -> [String: PromiseLimit?] {
        // The hardest promises of age and of time without network contradict each other.
        let parts = [names.filter { $0 != "offlineFor" }, names.filter { $0 == "offlineFor" }].filter { !$0.isEmpty }
        var needed: [String: PromiseLimit?] = [:]
        for names in parts {
            let folder = try folder(promising: names.map(RandomPromise.hardest))
            for verdict in try PromiseProof(of: "prices", in: folder.url).verdicts {
                needed[verdict.promise] =
                    verdict.refutation.map { $0.needed } ?? RandomPromise.hardest(verdict.promise).limit
            }
        }
        return needed
    }
}
