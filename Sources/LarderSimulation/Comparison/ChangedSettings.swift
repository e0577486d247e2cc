import Larder

/// The settings in which two policies differ, in plain words. Neither the layout of the files matters nor whether a default
/// is written.
enum ChangedSettings {
    /// The parts of one kind that have the same plugin, by their order.
    private struct Place: Hashable {
        let kind: PluginKind
        let name: String
        let number: Int
    }

    /// Returns the changes, in the order of the new policy.
    static func lines(from old: Policy, to new: Policy) -> [String] {
        let (before, after) = (places(of: old), places(of: new))
        let known = Dictionary(uniqueKeysWithValues: before.map { ($0.place, $0.part) })
        let left = Dictionary(uniqueKeysWithValues: after.map { ($0.place, $0.part) })
        var lines: [String] = []
        let removed = before.filter { left[$0.place] == nil }
        var added = after.filter { known[$0.place] == nil }
        for (place, part) in removed {
            // One plugin in place of another of its kind.
            let others = added.filter { $0.place.kind == place.kind }
            if others.count == 1, removed.count(where: { $0.place.kind == place.kind }) == 1 {
                added.removeAll { $0.place == others[0].place }
                lines.append("\(place.kind): \(part.plugin.name) → \(others[0].part.plugin.name)")
            } else {
                lines.append("\(place.kind) \(place.name): removed")
            }
        }
        lines += added.map { "\($0.place.kind) \($0.place.name): added" }
        for (place, part) in after {
            guard let former = known[place] else { continue }
            lines += changes(from: former, to: part).map { "\(place.kind) \(place.name): \($0)" }
        }
        return lines
    }

    private static func places(of policy: Policy) -> [(place: Place, part: Part)] {
        var numbers: [Place: Int] = [:]
        return Plan(policy).parts.map { part in
            let first = Place(kind: part.plugin.kind, name: part.plugin.name, number: 0)
            defer { numbers[first, default: 0] += 1 }
            return (Place(kind: first.kind, name: first.name, number: numbers[first, default: 0]), part)
        }
    }

    private static func changes(from old: Part, to new: Part) -> [String] {
        let former = Dictionary(old.settings.map { ($0.name, $0.value) }) { first, _ in first }
        // Parts among the settings have lines of their own.
        let parts = Set(new.plugin.settings.filter { $0.kind != nil }.map(\.name))
        return new.settings.filter { !parts.contains($0.name) }.compactMap { setting in
            let (old, new) = (text(former[setting.name] ?? nil), text(setting.value))
            return old == new ? nil : "\(setting.name) \(old) → \(new)"
        }
    }

    /// Returns a value on one line. Times and sizes have one spelling, so that `60s` and `1m` are the same.
    private static func text(_ value: JSON?) -> String {
        guard let value else { return "none" }
        guard case .string(let text) = value else { return value.text(indented: false) }
        return Duration(spelled: text)?.spelled ?? Int(spelledSize: text)?.spelledSize ?? text
    }
}
