import Larder
import LarderSync

/// The settings of a part that are in effect, as texts.
struct PartSettings {
    let about: String
    let name: String
    /// The facts about a pusher, by which policies are checked.
    let pushFacts: PushFacts?
    private let values: [String: JSON]
    private let declared: Set<String>

    init(_ part: Part) {
        self.init(
            part.plugin, values: part.settings.compactMap { setting in setting.shown.map { (setting.name, $0) } },
            part.customTraits.facts as? PushFacts)
    }

    /// The settings of a section that a policy leaves out.
    init(defaultsOf plugin: Plugin) {
        self.init(
            plugin,
            values: plugin.settings.compactMap { setting in
                setting.default.map { (setting.name, JSON(written: $0)) }
            })
    }

    private init(_ plugin: Plugin, values: [(String, JSON)], _ pushFacts: PushFacts? = nil) {
        (about, name, self.pushFacts) = (plugin.about, plugin.name, pushFacts)
        declared = Set(plugin.settings.map(\.name))
        self.values = Dictionary(values) { $1 }
    }

    /// Whether the plugin has a setting of this name.
    func declares(_ name: String) -> Bool { declared.contains(name) }

    /// Returns a value as text; nil if it is left out and has no default.
    subscript(name: String) -> String? { values[name].map(Self.text) }

    /// Returns the items of a list, joined by commas; nil if there are none.
    func names(_ name: String) -> String? {
        guard case .list(let items)? = values[name], !items.isEmpty else { return nil }
        return items.map(Self.text).joined(separator: ", ")
    }

    /// Returns the numbers of a list.
    func numbers(_ name: String) -> [Int] {
        guard case .list(let items)? = values[name] else { return [] }
        return items.compactMap { if case .int(let number) = $0 { number } else { nil } }
    }

    /// Returns a share in percent.
    func share(_ name: String) -> String {
        if case .number(let share)? = values[name] { return "\(Int((share * 100).rounded())) %" }
        return self[name] ?? ""
    }

    private static func text(_ value: JSON) -> String {
        if case .string(let text) = value { text.printable } else { value.text(indented: false).printable }
    }
}
