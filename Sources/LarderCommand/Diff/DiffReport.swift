import Larder
import LarderSimulation
import LarderStories

/// The differences between two sets of policies, as text, Markdown and JSON.
struct DiffReport {
    /// The number of lines about situations that are shown for each resource.
    static let mostLines = 20

    /// The comparisons of the policies that differ, in the order of their names.
    private(set) var comparisons: [PolicyComparison] = []
    /// The resources that have a policy on one side only.
    private(set) var added: [String] = []
    private(set) var removed: [String] = []

    /// Compares policies by their resources. Two files are compared whatever their resources are.
    ///
    /// - Parameter progress: is told which share of the work is done, and for which resource. It is called from several
    ///   threads.
    /// - Throws: `PolicyError` if a policy cannot be composed.
    init(
        from old: PolicySource.Policies, to new: PolicySource.Policies, proves: Bool,
        progress: @escaping @Sendable (Double, String) -> Void
    ) throws {
        var pairs: [(old: SimulatedPolicy, new: SimulatedPolicy)] = []
        if old.isFile, new.isFile {
            pairs = Array(zip(old.all, new.all))
        } else {
            let known = Dictionary(old.all.map { ($0.resource, $0) }) { first, _ in first }
            pairs = new.all.compactMap { policy in known[policy.resource].map { ($0, policy) } }
            let present = Set(new.all.map(\.resource))
            if !old.isFile { added = new.all.map(\.resource).filter { known[$0] == nil } }
            if !new.isFile { removed = old.all.map(\.resource).filter { !present.contains($0) } }
            if pairs.isEmpty, old.isFile || new.isFile { throw Self.noCounterpart(old, new) }
            // Of a folder, only the policy of the file's resource counts.
            if old.isFile || new.isFile { (added, removed) = ([], []) }
        }
        for (number, pair) in pairs.enumerated() {
            let (name, count) = (pair.new.resource, Double(pairs.count))
            let comparison = try PolicyComparison(from: pair.old, to: pair.new, proves: proves) {
                progress((Double(number) + $0) / count, name)
            }
            if !comparison.isEmpty { comparisons.append(comparison) }
        }
    }

    /// Returns the error that the other side does not have a policy.
    private static func noCounterpart(_ old: PolicySource.Policies, _ new: PolicySource.Policies) -> CommandFailure {
        let (one, others) = old.isFile ? (old, new) : (new, old)
        let names = others.all.prefix(20).map(\.resource).joined(separator: ", ")
        return CommandFailure("there is no other policy for \(one.all.map(\.resource).joined()); there are: \(names)")
    }

    /// The differences in lines of text: at most `most` about situations of each resource.
    func lines(_ most: Int) -> [String] {
        if isEmpty { return [Self.nothing] }
        let blocks = comparisons.map { comparison -> [String] in
            [comparison.resource] + comparison.settings.map { "  changed  \($0)" }
                + (comparison.consequences + comparison.shown(most).map(\.description) + comparison.rest(most)).map {
                    "  \($0)"
                }
        }
        return Array((blocks + (ends.isEmpty ? [] : [ends(most)])).joined(separator: [""]))
    }

    /// The differences in Markdown, for a review.
    func markdown(_ most: Int) -> [String] {
        if isEmpty { return [Self.nothing] }
        let blocks = comparisons.map { comparison -> [String] in
            var lines = ["### \(comparison.resource.inMarkdown)", ""]
            lines += comparison.settings.map { "- changed: \($0.inMarkdown)" }
            lines += comparison.consequences.map { "- \($0.inMarkdown)" }
            let shown = comparison.shown(most)
            if !shown.isEmpty {
                lines += ["", "| situation | before | after |", "|---|---|---|"]
                lines += shown.map { "| \($0.situation.inMarkdown) | \($0.old.inMarkdown) | \($0.new.inMarkdown) |" }
            }
            return lines + [""] + comparison.rest(most).map { "- \($0.inMarkdown)" }
        }
        return Array((blocks + (ends.isEmpty ? [] : [ends(most).map { "- \($0.inMarkdown)" }])).joined(separator: [""]))
    }

    /// Whether there is no difference.
    var isEmpty: Bool { comparisons.isEmpty && ends.isEmpty }
    private static let nothing = "no difference: the policies have the same settings"

    var json: JSON {
        [
            "policies": .list(comparisons.map(\.json)), "added": .list(added.map(JSON.string)),
            "removed": .list(removed.map(JSON.string)),
        ]
    }

    private func ends(_ most: Int) -> [String] {
        let left = ends.count - min(most, ends.count)
        return ends.prefix(most)
            + (left > 0
                ? ["… and \(counted(left, one: "more policy", many: "more policies")); 'larder diff --all' shows them"]
                : [])
    }

    private var ends: [String] {
        added.map { "\($0): new" }
            + removed.map { "\($0): removed; its copies are deleted after a week in which they are not used" }
    }
}

extension PolicyComparison {
    fileprivate func shown(_ most: Int) -> [PolicyDifference] { Array(differences.prefix(most)) }

    /// The number of lines that are not shown, the number of situations, and what may be missing.
    fileprivate func rest(_ most: Int) -> [String] {
        let left = differences.count - shown(most).count
        let sum = "\(different) of \(counted(situations, one: "situation")) differ"
        let assumed = lifetime.map { ["lines that name no lifetime are for an origin that states \($0)"] } ?? []
        return (left > 0 ? ["… and \(counted(left, one: "more line")); 'larder diff --all' shows them"] : []) + [sum]
            + assumed
            + gaps.map { "not complete: \($0)" }
    }

    /// The facts that concern no single situation.
    fileprivate var consequences: [String] { promises + forgotten }

    fileprivate var json: JSON {
        [
            "resource": .string(resource), "settings": .list(settings.map(JSON.string)),
            "situations": .int(situations), "different": .int(different),
            "differences": .list(
                differences.map {
                    ["situation": .string($0.situation), "old": .string($0.old), "new": .string($0.new)]
                }),
            "forgotten": .list(forgotten.map(JSON.string)), "promises": .list(promises.map(JSON.string)),
            "gaps": .list(gaps.map(JSON.string)), "lifetime": lifetime.map(JSON.string) ?? .null,
        ]
    }
}

extension String {
    /// The text with the characters quoted that have a meaning in Markdown or in its tables.
    fileprivate var inMarkdown: String {
        var text = ""
        for character in withoutControls {
            if "\\`*_{}[]<>#|".contains(character) { text.append("\\") }
            text.append(character)
        }
        return text
    }
}
