/// A kind of plugin: its place in a policy and in the loader graph.
///
/// A module can add kinds of its own. Its plugins are declared with ``Plugin/custom(_:_:_:_:counters:levels:gauges:timings:traits:make:)``
/// and named in the settings of other plugins, with ``SettingType/part(_:)``:
///
/// ```swift
/// extension PluginKind {
///     public static let signer = PluginKind("signer")
/// }
/// ```
public struct PluginKind: Hashable, Sendable, EqualByName {
    /// The name: `origin`.
    package let name: String
    /// The name with its article: `an origin`, `a store`.
    package let withArticle: String

    /// Makes a kind.
    ///
    /// - Parameters:
    ///   - name: lowercase words joined by hyphens.
    ///   - article: the article of the name in messages.
    public init(_ name: String, article: String = "a") {
        self.name = name
        withArticle = "\(article) \(name)"
    }

    /// A source of data.
    public static let origin = PluginKind("origin", article: "an")
    /// A loader around an origin or another wrapper.
    public static let wrapper = PluginKind("wrapper")
    /// An order in which the origin and the copies are tried.
    public static let strategy = PluginKind("strategy")
    /// A judgement of which payloads may be kept and which copies may be shown.
    public static let validator = PluginKind("validator")
    /// A place for copies.
    public static let store = PluginKind("store")
    /// A choice of the entries that a full store removes.
    public static let eviction = PluginKind("eviction", article: "an")
    /// A key of a policy with settings of its own, which makes an ``Attachment`` for the resource.
    public static let section = PluginKind("section")
    /// A key of `_larder.json` with settings of its own, which makes an ``Attachment`` for the pantry.
    public static let pantrySection = PluginKind("pantry-section")

    /// The kinds that Larder knows itself.
    package static let core: [PluginKind] = [
        .origin, .wrapper, .strategy, .validator, .store, .eviction, .section, .pantrySection,
    ]

    /// Whether the name of a plugin is a key, so that no `use` names it.
    var isSection: Bool { self == .section || self == .pantrySection }

    /// The reason why a module cannot use this name; nil if it can.
    var fault: String? {
        let words = name.split(separator: "-", omittingEmptySubsequences: false)
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard words.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(letters.contains) }) else {
            return "its kind '\(name.prefix(64))' is not made of lowercase words joined by hyphens"
        }
        // The definitions of the schema have these names beside the kinds.
        return ["environment", "plain", "value"].contains(name) ? "its kind cannot be called '\(name)'" : nil
    }
}

extension PluginKind: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
