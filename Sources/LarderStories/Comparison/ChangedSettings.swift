import Larder

/// The settings in which two policies differ, in plain words. Neither the layout of the files matters nor whether a default
/// is written.
enum ChangedSettings {
    /// A part of a policy: its place, its plugin, and its number among the parts there that have the same plugin.
    fileprivate struct Place: Hashable {
        let key: String
        let plugin: String
        let number: Int
    }

    fileprivate typealias Placed = (place: Place, part: Part)

    /// Returns the changes, in the order of the new policy.
    static func lines(from old: Policy, to new: Policy) -> [String] {
        let (before, after) = (places(of: old), places(of: new))
        let known = Dictionary(uniqueKeysWithValues: before.map { ($0.place, $0.part) })
        let present = Set(after.map(\.place))
        var lines = old.resource == new.resource ? [] : ["resource: \(old.resource) → \(new.resource)"]
        lines += exchanges(before.filter { !present.contains($0.place) }, after.filter { known[$0.place] == nil })
        lines += orders(before.map(\.place).filter(present.contains), after.map(\.place).filter { known[$0] != nil })
        for (place, part) in after {
            guard let former = known[place] else { continue }
            let isPlayed = place.isPlayed(from: former, to: part)
            lines += changes(from: former, to: part).map { change in
                "\(place.key) \(place.plugin): \(change)" + (isPlayed ? "" : " (not played)")
            }
        }
        return lines
    }

    /// The parts that were removed or added. One in place of another is told as an exchange.
    private static func exchanges(_ removed: [Placed], _ added: [Placed]) -> [String] {
        let (gone, come) = (removed.byKey, added.byKey)
        let keys = (removed + added).map(\.place.key).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return keys.flatMap { key -> [String] in
            let (old, new) = (gone[key] ?? [], come[key] ?? [])
            if old.count == 1, new.count == 1 { return ["\(key): \(old[0].plugin) → \(new[0].plugin)"] }
            // The key of a section is its name.
            func line(_ place: Place, _ verb: String) -> String {
                (key == place.plugin ? key : "\(key) \(place.plugin)") + ": " + verb
            }
            return old.map { line($0, "removed") } + new.map { line($0, "added") }
        }
    }

    /// The lists whose order differs.
    private static func orders(_ before: [Place], _ after: [Place]) -> [String] {
        let (old, new) = (Dictionary(grouping: before, by: \.key), Dictionary(grouping: after, by: \.key))
        return new.keys.sorted().filter { old[$0] != new[$0] }.map { key in
            func names(_ places: [Place]?) -> String { (places ?? []).map(\.plugin).joined(separator: ", ") }
            return "order of \(key): \(names(old[key])) → \(names(new[key]))"
        }
    }

    /// The parts that a policy names, with their places. Defaults for parts that it leaves out have none.
    private static func places(of policy: Policy) -> [Placed] {
        var numbers: [Place: Int] = [:]
        return Plan(policy).parts.filter { !$0.isDefault }.map { part in
            let first = Place(key: part.key, plugin: part.plugin.name, number: 0)
            defer { numbers[first, default: 0] += 1 }
            return (Place(key: first.key, plugin: first.plugin, number: numbers[first, default: 0]), part)
        }
    }

    private static func changes(from old: Part, to new: Part) -> [String] {
        let former = Dictionary(old.settings.map { ($0.name, $0) }) { first, _ in first }
        // Parts among the settings have lines of their own.
        let parts = Set(new.plugin.settings.filter { $0.kind != nil }.map(\.name))
        let quantities = Set(new.plugin.settings.filter { quantityTypes.contains($0.type) }.map(\.name))
        return new.settings.filter { !parts.contains($0.name) }.compactMap { setting in
            let old = former[setting.name]
            let (before, after) = (text(old?.shown), text(setting.shown))
            let isSame = quantities.contains(setting.name) ? before == after : old?.value == setting.value
            if isSame { return nil }
            // A value that only looks like a time is shown as it is written.
            let isReadable = before != after
            return "\(setting.name) "
                + (isReadable ? "\(before) → \(after)" : "\(old?.text ?? "none") → \(setting.text)")
        }
    }

    private static func json(_ value: JSON?) -> String { value?.text(indented: false) ?? "none" }

    /// The types of settings whose values can be spelled in several ways.
    private static let quantityTypes = ["duration", "size", "share"]

    /// Returns a value on one line. Times, sizes and shares have one spelling, so that `60s` and `1m` are the same.
    private static func text(_ value: JSON?) -> String {
        guard case .string(let text) = value else { return json(value) }
        if text.hasSuffix("%"), let percent = Double(text.dropLast()) {
            return JSON.number(percent / 100).text(indented: false)
        }
        return Duration(spelled: text)?.spelled ?? Int(spelledSize: text)?.spelledSize ?? text
    }
}

extension ChangedSettings.Place {
    /// Whether a change of settings of this part can change what is played. Origins and stores are simulated: of their
    /// settings, only those count that their traits tell.
    fileprivate func isPlayed(from old: Part, to new: Part) -> Bool {
        switch new.plugin.kind {
        case .wrapper, .strategy, .validator: true
        case .store:
            new.plugin.isMadeOfOthers || old.storeTraits.capacity != new.storeTraits.capacity
                || old.givesUpAfter != new.givesUpAfter || old.storeTraits.keepsFor != new.storeTraits.keepsFor
                || old.storeTraits.writesTo != new.storeTraits.writesTo
        case .origin: new.plugin.isMadeOfOthers || new.originTraits.isLocal || new.originTraits.cannotFail
        case .section: new.sectionTraits.limitsBackgroundWork
        default: false
        }
    }
}

extension [ChangedSettings.Placed] {
    fileprivate var byKey: [String: [ChangedSettings.Place]] {
        Dictionary(grouping: map(\.place), by: \.key)
    }
}

extension Part {
    /// Its place in the policy, without the numbers in lists: `strategy`, `store.tiers`.
    fileprivate var key: String {
        let names = path.split(separator: ".").dropFirst().map { $0.prefix { $0 != "[" } }
        return names.joined(separator: ".")
    }
}
