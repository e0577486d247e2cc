public import LarderFoundation
public import Larder
import LarderSystem

/// The verdict on one promise.
public struct PromiseVerdict: Sendable {
    /// A story that breaks the promise.
    public struct Refutation: Sendable {
        /// The story. Of all that break the promise, it has the fewest unusual facts, and of those it breaks it most.
        public let story: Story
        /// The user's observation in it.
        public let observation: ObservedLoad
        /// The limit that the promise would need to hold in every situation that was played. Nil if none is enough.
        public let needed: PromiseLimit?
    }

    /// The name of the promise: `neverOlderThan`.
    public let promise: String
    /// Its limit.
    public let limit: PromiseLimit
    /// The number of situations that were played for it.
    public let situations: Int
    /// A situation that breaks it; nil if none was found.
    public let refutation: Refutation?

    /// Whether no situation breaks it.
    public var isProved: Bool { refutation == nil }
}

/// The proof that a policy keeps its promises, or the situations in which it does not.
///
/// ```swift
/// @Test func catalogKeepsItsPromises() throws {
///     let proof = try PromiseProof(of: "catalog", in: folder)
///     #expect(proof.isProved && proof.gaps.isEmpty, "\(proof)")
/// }
/// ```
///
/// The article "Promises" says what is played and what is not.
public struct PromiseProof: Sendable {
    /// The resource.
    public let resource: String
    /// A verdict on each promise, in the order of their settings.
    public let verdicts: [PromiseVerdict]
    /// The reasons why the verdicts are not complete, such as a plugin that tells no borders.
    public let gaps: [String]
    /// The number of situations that were played.
    public let situations: Int
    /// The media type of the payloads that were played.
    package let contentType: String

    /// Whether every promise holds in all situations that were played.
    public var isProved: Bool { verdicts.allSatisfy(\.isProved) }

    /// Plays the situations that can make a difference to the promises of a policy. Blocks the thread; several threads
    /// share the work.
    ///
    /// - Parameters:
    ///   - resource: the resource.
    ///   - folder: the folder of its policy.
    ///   - registry: the plugins that the policy may name.
    ///   - environment: the values of `${NAME}` in policies.
    /// - Throws: `PolicyError` with the problems of the policy.
    public init(
        of resource: String, in folder: URL, registry: Registry = .standard, environment: [String: String] = [:]
    ) throws {
        try self.init(SimulatedPolicy(of: resource, in: folder, registry: registry, environment: environment))
    }

    /// The number of times that facts of the worst situations are changed.
    private static let mostRounds = 4
    /// About the share of a proof that is done before facts are changed, and the share of the rest that each change takes.
    private static let (firstShare, changesShare) = (0.55, 0.7)

    /// The largest numbers of situations, and of calls in the situations with which a proof begins. So many situations
    /// need about a gigabyte, and so many calls take minutes.
    private static let (mostSituations, mostFirstCalls) = (300_000, 3_000_000)

    /// Whether a proof would play too many situations.
    static func isTooLarge(_ policy: SimulatedPolicy) -> Bool {
        let size = roughSize(of: policy)
        if size > mostSituations || size * policy.mostTries > mostFirstCalls { return true }
        return policy.makesMoreCalls && policy.tooManyCalls(in: self.size(of: policy)) != nil
    }

    private static func tooLarge(_ policy: SimulatedPolicy) -> PolicyError {
        let calls = roughSize(of: policy) > mostSituations ? nil : policy.tooManyCalls(in: size(of: policy))
        let reason = calls ?? "the parts of this policy have too many times that differ"
        let message = "a proof would play too many situations, because \(reason)"
        return PolicyError([Problem(message, file: policy.policy.file)])
    }

    /// Returns about the number of situations that a proof plays before it changes facts of the worst, without making them.
    package static func roughSize(of policy: SimulatedPolicy) -> Int {
        policy.promises == nil || policy.unplayed != nil ? 0 : Int(min(SituationSpace(policy).roughSize, 1_000_000_000))
    }

    /// Returns the number of situations that a proof plays before it changes facts of the worst, without playing them.
    package static func size(of policy: SimulatedPolicy) -> Int {
        if policy.unplayed != nil { return 0 }
        return policy.promises.map { SituationSpace(policy).first(for: $0).count } ?? 0
    }

    /// - Parameter progress: is told which share of the situations was played. It is called from several threads.
    package init(
        _ policy: SimulatedPolicy, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws {
        resource = policy.resource
        contentType = policy.contentType
        guard let promises = policy.promises else {
            (verdicts, gaps, situations) = ([], policy.gaps, 0)
            return
        }
        let rules = PromiseRule.rules(of: promises, soon: policy.timeToAnswer, oldest: policy.oldest)
        if policy.unplayed != nil {
            verdicts = rules.map {
                PromiseVerdict(promise: $0.name, limit: $0.limit, situations: 0, refutation: nil)
            }
            (gaps, situations) = (policy.gaps, 0)
            return
        }
        let space = SituationSpace(policy)
        if Self.isTooLarge(policy) { throw Self.tooLarge(policy) }
        var share = Self.firstShare
        var played = PlayedSituations(of: policy)
        try played.add(space.first(for: promises)) { [share] in progress($0 * share) }
        var copies = promises.waits.map { _ in CopiesThatMayBeShown(of: policy) }
        try copies?.ask(played.all.map(\.situation))
        var gaps = policy.gaps
        var worst = WorstSituations(for: rules, of: policy)
        worst.note(played.all, copies)
        for _ in 0..<Self.mostRounds {
            let further = played.unplayed(of: try worst.takeUnexplored(&copies).flatMap(space.nearby))
            if further.isEmpty { break }
            if played.all.count + further.count > Self.mostSituations {
                gaps.append("facts of the worst situations are not changed, because there would be too many situations")
                break
            }
            let (count, part) = (played.all.count, (1 - share) * Self.changesShare)
            try played.add(further) { [share] in progress(share + $0 * part) }
            try copies?.ask(further)
            worst.note(played.all.dropFirst(count), copies)
            share += part
        }
        let searched = played.unplayed(of: try worst.searchTimes(played, &copies))
        try played.add(searched)
        try copies?.ask(searched)
        situations = played.all.count
        let firstTooLate = try OfflineSearch(played, of: policy).firstTooLate
        verdicts = try rules.map { try Self.verdict($0, played: played, copies: &copies, firstTooLate: firstTooLate) }
        // Otherwise such a promise would look proved.
        self.gaps =
            gaps
            + verdicts.filter { $0.situations == 0 }.map { "no situation that was played concerns '\($0.promise)'" }
    }

    private static func verdict(
        _ rule: PromiseRule, played: PlayedSituations, copies: inout CopiesThatMayBeShown?,
        firstTooLate: Duration?
    ) throws -> PromiseVerdict {
        var count = 0
        var broken: [(situation: Story, seen: ObservedLoad, needed: NeededLimit)] = []
        for (situation, seen) in played.all where rule.concerns(situation) {
            if rule.needsCopy, copies?.isShown(situation) != true { continue }
            count += 1
            guard let needed = rule.needed(situation, seen), rule.isBroken(needing: needed) else { continue }
            broken.append((situation, seen, needed))
        }
        if rule.needsCopy, case .time(let limit) = rule.limit {
            // A copy that may not be shown any more is no reason to end a load.
            let limit = min(limit, SimulatedPolicy.longest)
            try copies?.ask(broken.map { ($0.situation, limit) })
            broken.removeAll { [copies] in copies?.isShown($0.situation, after: limit) != true }
        }
        // A promise for a millisecond says nothing.
        let latest = firstTooLate.map { $0 > .milliseconds(1) ? NeededLimit.time($0) : NeededLimit.none }
        let worst = rule.isShortened ? latest : broken.map(\.needed).max()
        // If no time is short enough, the situation shows why.
        if rule.isShortened, worst == NeededLimit.none { broken.removeAll { $0.needed > .time(.milliseconds(1)) } }
        let smallest = broken.min { one, other in
            if one.situation.unusual != other.situation.unusual {
                return one.situation.unusual < other.situation.unusual
            }
            if one.needed != other.needed {
                return rule.isShortened ? one.needed < other.needed : other.needed < one.needed
            }
            return one.situation.size < other.situation.size
        }
        let refutation = smallest.map { found in
            PromiseVerdict.Refutation(
                story: found.situation, observation: found.seen, needed: worst?.rounded(for: rule).limit)
        }
        return PromiseVerdict(promise: rule.name, limit: rule.limit, situations: count, refutation: refutation)
    }
}

extension NeededLimit {
    /// The limit to write into a policy, in whole milliseconds. Ages are played up to a millisecond before the end of a
    /// window.
    func rounded(for rule: PromiseRule) -> NeededLimit {
        guard case .time(let time) = self else { return self }
        let isAge = rule.name == "neverOlderThan" || rule.name == "freshWithin"
        let exact = isAge ? time + .milliseconds(1) : time
        let whole = Duration.milliseconds(exact.nanoseconds / 1_000_000)
        return .time(whole == exact || rule.isShortened ? whole : whole + .milliseconds(1))
    }
}

extension PromiseProof: CustomStringConvertible {
    /// A line for each promise.
    public var description: String { lines.joined(separator: "\n") }
}
