public import LarderFoundation
public import Larder
import LarderSystem

/// The differences between two policies that users would notice: the same situations are played through both.
///
/// ```swift
/// let comparison = try PolicyComparison(of: "catalog", from: oldFolder, to: newFolder)
/// for difference in comparison.differences { print(difference) }
/// // the origin fails at once, copy 6h 5m to 7h 5m old: error 503 after 400ms → copy after 400ms
/// ```
///
/// The article "Compare policies" says which situations are played.
public struct PolicyComparison: Sendable {
    /// The resource.
    public let resource: String
    /// The settings that differ, and the parts that were added, removed, exchanged or put in another order.
    public let settings: [String]
    /// The differences that users would notice, those that matter most to them first.
    public let differences: [PolicyDifference]
    /// The copies that are lost when the new policy replaces the old one: stores forget them, or validators refuse them.
    public let forgotten: [String]
    /// The promises that were kept and are broken, or the other way round.
    public let promises: [String]
    /// The reasons why a difference may be missing, such as a plugin that tells no borders.
    public let gaps: [String]
    /// The lifetime that the origin states for its answers in all differences that name none, in words. Nil if no policy
    /// follows the origin.
    package private(set) var lifetime: String?
    /// The number of situations that were played through each policy.
    public let situations: Int
    /// The number of those in which the policies differ.
    public let different: Int

    /// Whether the policies do not differ, however they are written.
    public var isEmpty: Bool { settings.isEmpty && differences.isEmpty && forgotten.isEmpty && promises.isEmpty }

    /// Compares the policies of a resource in two folders. Blocks the thread; several threads share the work.
    ///
    /// - Parameters:
    ///   - resource: the resource.
    ///   - old: the folder of its old policy.
    ///   - new: the folder of its new policy.
    ///   - registry: the plugins that the policies may name.
    ///   - environment: the values of `${NAME}` in policies.
    /// - Throws: `PolicyError` with the problems of a policy.
    public init(
        of resource: String, from old: URL, to new: URL, registry: Registry = .standard,
        environment: [String: String] = [:]
    ) throws {
        func plan(_ folder: URL) throws -> SimulatedPolicy {
            try SimulatedPolicy(of: resource, in: folder, registry: registry, environment: environment)
        }
        try self.init(from: plan(old), to: plan(new))
    }

    /// - Parameters:
    ///   - proves: whether promises are compared.
    ///   - progress: is told which share of the situations was played. It is called from several threads.
    package init(
        from old: SimulatedPolicy, to new: SimulatedPolicy, proves: Bool = true,
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws {
        resource = new.resource
        settings = ChangedSettings.lines(from: old.policy, to: new.policy)
        if settings.isEmpty {
            (differences, forgotten, promises, gaps, situations, different) = ([], [], [], [], 0, 0)
            return
        }
        forgotten = try ForgottenCopies.lines(from: old, to: new)
        var gaps = Set(old.gaps + new.gaps).sorted()
        let isPlayed = old.unplayed == nil && new.unplayed == nil
        let wantsProof = proves && isPlayed && (old.promises != nil || new.promises != nil)
        let mustProve = wantsProof && ![old, new].contains(where: PromiseProof.isTooLarge)
        if wantsProof, !mustProve {
            gaps.append("a proof would play too many situations, so promises are not compared")
        }
        let grid = SituationGrid([old, new])
        lifetime = grid.circumstances.contains { $0.kind == .lifetime } ? [grid.lifetime].inWords : nil
        var found = GridDifferences(grid)
        var count = 0
        var places = isPlayed ? grid.circumstances.map { grid.situations(under: $0) } : []
        let size = 2 * places.reduce(0) { $0 + $1.count }
        if let reason = old.tooManyCalls(in: size) ?? new.tooManyCalls(in: size) {
            gaps.append("no situations are compared: \(reason)")
            places = []
        }
        self.gaps = gaps
        let all = places.flatMap { $0.map(\.situation) }
        let share = mustProve ? 0.2 : 1.0
        let seenBefore = try PlayedSituations(all, of: old) { progress($0 * share / 2) }.all.map(\.seen)
        let seenAfter = try PlayedSituations(all, of: new) { progress((1 + $0) * share / 2) }.all.map(\.seen)
        for place in places {
            let range = count..<count + place.count
            found.add(
                place.map(\.cell), situations: Array(all[range]), old: Array(seenBefore[range]),
                new: Array(seenAfter[range]))
            count = range.upperBound
        }
        situations = count
        different = found.count
        differences = found.all
        promises =
            mustProve
            ? try ComparedPromises.lines(from: old, to: new) { progress(share + $0 * (1 - share)) } : []
    }
}
