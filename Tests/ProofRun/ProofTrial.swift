import Larder
import LarderSimulation
import LarderStories

/// A random policy that the composer accepts and whose proof is complete, with random promises.
struct ProofTrial {
    private(set) var policy: RandomPolicy
    private var random: SeededGenerator

    /// - Parameter isSmall: whether a policy whose proof takes long does not count.
    init(_ seed: UInt64, isSmall: Bool) throws {
        random = SeededGenerator(seed: seed)
        while true {
            policy = RandomPolicy(&random)
            if try Self.isComplete(policy, isSmall: isSmall) { return }
        }
    }

    /// Whether the composer accepts a policy, and whether a proof of it is complete. Copies that an app keeps are in no
    /// random history, and no operation of a store without a limit holds up the next load.
    static func isComplete(_ policy: RandomPolicy, isSmall: Bool) throws -> Bool {
        let folder = try folder(policy, promising: [.hardest("waits")])
        let reader = PolicyReader(registry: .standard, folder: folder.path, environment: [:])
        guard let read = reader.check("prices.json").policy,
            let policy = try? SimulatedPolicy(read, registry: .standard, files: folder.path, environment: [:])
        else { return false }
        return policy.gaps.allSatisfy { $0.contains("forgets copies") || $0.contains("has no 'limit'") }
            && !(isSmall
                && (PromiseProof.roughSize(of: policy) > 100_000 || PromiseProof.size(of: policy) > mostSituations))
    }

    /// The largest number of situations of a proof that does not take long.
    private static let mostSituations = 4_000

    /// A folder with a policy and promises.
    static func folder(_ policy: RandomPolicy, promising promises: [RandomPromise]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
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
            let folder = try Self.folder(policy, promising: names.map(RandomPromise.hardest))
            for verdict in try PromiseProof(of: "prices", in: folder.url).verdicts {
                needed[verdict.promise] =
                    verdict.refutation.map { $0.needed } ?? RandomPromise.hardest(verdict.promise).limit
            }
        }
        return needed
    }
}
