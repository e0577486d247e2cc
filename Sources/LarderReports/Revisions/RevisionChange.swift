import Larder

/// A line of a policy that differs between two revisions.
struct RevisionChange: Sendable, Hashable {
    /// The place in the policy, such as `strategy.patience` or `around[0].retries`.
    var path: String
    /// The values in both revisions; nil where a revision has none.
    var old: String?
    var new: String?

    /// The change in one line: `strategy.patience 800ms → 3s`.
    var line: String {
        switch (shownOld, shownNew) {
        case (Self.hidden, Self.hidden): "\(path) changed; its value is hidden"
        case (let old?, let new?): "\(path) \(old) → \(new)"
        case (nil, let new?): "\(path) \(new) added"
        case (let old?, nil): "\(path) \(old) removed"
        case (nil, nil): path
        }
    }

    /// The values as they are shown: a hidden one without the digits that tell it from others.
    var shownOld: String? { old.map(Self.shown) }
    var shownNew: String? { new.map(Self.shown) }

    private static func shown(_ value: String) -> String { value.hasPrefix(hidden) ? hidden : value }

    private static let hidden = "…"

    /// The line for revisions that differ although no line does, because dumps leave out what changed.
    static let hiddenLine = "a setting whose value dumps hide or leave out changed"

    /// The number of lines of a policy that are compared. A dump may contain any.
    private static let mostLines = 2_000

    /// Returns the lines that differ, in the order of the new policy.
    static func changes(from old: JSON, to new: JSON) -> [RevisionChange] {
        let (before, after) = (lines(of: old), lines(of: new))
        let known = Dictionary(before, uniquingKeysWith: { one, _ in one })
        let present = Set(after.map(\.0))
        let changed = after.compactMap { path, value in
            known[path] == value ? nil : RevisionChange(path: path, old: known[path], new: value)
        }
        return changed
            + before.filter { !present.contains($0.0) }.map { RevisionChange(path: $0.0, old: $0.1, new: nil) }
    }

    /// The values in a policy, each with its path.
    private static func lines(of policy: JSON) -> [(String, String)] {
        var lines: [(String, String)] = []
        func add(_ value: JSON, at path: String) {
            guard lines.count < mostLines else { return }
            switch value {
            case .object(let members):
                if members.isEmpty { lines.append((path, "{}")) }
                for member in members {
                    // `strategy`, not `strategy.use`: a plugin may be written as a name alone.
                    let name = member.name == "use" ? "" : (path.isEmpty ? "" : ".") + member.name.printable
                    add(member.value, at: path + name)
                }
            case .list(let items):
                for (number, item) in items.enumerated() { add(item, at: "\(path)[\(number)]") }
                if items.isEmpty { lines.append((path, "[]")) }
            case .string(let text): lines.append((path, text.printable))
            default: lines.append((path, value.text(indented: false)))
            }
        }
        add(policy, at: "")
        return lines
    }
}
