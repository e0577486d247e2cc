public import Larder
public import LarderFoundation
import LarderSync
import LarderSystem

/// The proof that a policy keeps its promises about changes of records, or the histories in which it does not.
///
/// Each history is played with the policy's pulls, pushes, waits and rules for conflicts, with a real database, and with a service
/// that speaks as the policy says: it knows keys and versions if it is sent any, and tells deletions if its pages have a place for
/// them.
public struct RecordProof: Sendable {
    /// The verdict on one promise.
    public struct Verdict: Sendable {
        /// The name of the promise: `losesNothing`.
        public let promise: String
        /// Its limit; nil for a promise without one.
        public let limit: Duration?
        /// The shortest history that breaks it; nil if none was found.
        public let refutation: RecordStory?
        /// The end of that history.
        let breach: RecordBreach?
        /// The limit that would hold in all histories; nil if none would.
        public let needed: Duration?

        /// Whether no history breaks it.
        public var isProved: Bool { refutation == nil }
    }

    /// The resource.
    public let resource: String
    /// A verdict on each promise.
    public let verdicts: [Verdict]
    /// The reasons why nothing was played or judged.
    public let gaps: [String]
    /// The number of histories that were played.
    public let histories: Int

    /// Whether every promise holds in all histories that were played.
    public var isProved: Bool { verdicts.allSatisfy(\.isProved) }

    /// Plays histories of a policy. Blocks the thread.
    ///
    /// - Parameters:
    ///   - resource: the resource.
    ///   - folder: the folder of its policy.
    ///   - registry: the plugins that the policy may name.
    ///   - environment: the values of `${NAME}` in policies.
    /// - Throws: `PolicyError` with the problems of the policy.
    public init(
        of resource: String, in folder: URL, registry: Registry, environment: [String: String] = [:]
    ) throws {
        let reader = PolicyReader(registry: registry, folder: folder.shortPath, environment: environment)
        let result = reader.check(resource + ".json")
        guard let policy = result.policy else { throw PolicyError(result.problems) }
        try self.init(policy, registry: registry, files: folder.shortPath, environment: environment)
    }

    /// - Parameter progress: is told which share of the histories was played. It is called from several threads.
    package init(
        _ policy: Policy, registry: Registry, files: String?, environment: [String: String],
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws {
        resource = policy.resource
        let makePlayer: @Sendable () throws -> RecordStoryPlayer = {
            try RecordStoryPlayer(policy, registry: registry, files: files, environment: environment)
        }
        let (dialect, promises) = try makePlayer().tryOut()
        let rules = promises.map(RecordPromise.all) ?? []
        let stories = RecordStory.all(firstTry: dialect?.firstTry ?? .zero)
        var gaps = Self.gaps(dialect)
        var played: [RecordHistory] = []
        if !rules.isEmpty, gaps.isEmpty {
            played = try Self.play(stories, makePlayer, progress)
            if played.contains(where: { $0.misunderstood > 0 }) {
                gaps.append("the simulated service cannot read all calls of its pusher, so nothing is judged")
                played = []
            }
        }
        (self.gaps, histories) = (gaps, played.count)
        verdicts = rules.map { rule in
            let broken = zip(stories, played).lazy.compactMap { story, history in
                rule.breach(history).map { (story, $0) }
            }.first
            return Verdict(
                promise: rule.name, limit: rule.limit, refutation: broken?.0, breach: broken?.1,
                needed: rule.needed(played))
        }
    }

    static func gaps(_ dialect: ServiceDialect?) -> [String] {
        guard let dialect else { return ["the policy has no section 'records'"] }
        var gaps: [String] = []
        if dialect.pull == nil {
            gaps.append("its puller does not tell the language of its service, so nothing is played")
        }
        if dialect.push == nil {
            gaps.append("its pusher does not tell the language of its service, so nothing is played")
        }
        return gaps
    }

    /// The number of histories that a thread plays at once.
    private static let rangeSize = 20

    /// - Parameter makePlayer: makes a player, of which each thread needs its own.
    private static func play(
        _ stories: [RecordStory], _ makePlayer: @escaping @Sendable () throws -> RecordStoryPlayer,
        _ progress: @escaping @Sendable (Double) -> Void
    ) throws -> [RecordHistory] {
        let count = Locked(0)
        let results = ParallelMap.results(for: stories.count, inRangesOf: rangeSize) { range in
            let player = Result { try makePlayer() }
            let played = range.map { number in Result { try player.get().play(stories[number]) } }
            let done = count.withLock { count in
                count += range.count
                return count
            }
            progress(Double(done) / Double(stories.count))
            return played
        }
        return try results.map { try $0.get() }
    }
}
