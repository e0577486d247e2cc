/// A key of a policy, and the content that belongs to it.
///
/// ``core`` is the only list of the keys that every policy can have. ``Registry/members`` adds the sections that are
/// registered. The reader, the schema, the reference, the fingerprints and ``Plan`` use that.
package struct PolicyMember: Sendable {
    /// The content of a key.
    package enum Content: Sendable {
        /// One plugin of this kind.
        case plugin(PluginKind)
        /// A list of plugins of this kind.
        case plugins(PluginKind)
        /// A value that is not a plugin: its description in messages, and its JSON Schema.
        case value(String, schema: JSON)
        /// The settings of a section.
        case section(Plugin)
    }

    package let name: String
    package let content: Content
    /// The purpose, in one line.
    package let help: String
    /// Other words for it, in no policy.
    let words: [String]

    private init(_ key: ReservedKey, _ content: Content, help: String, alsoCalled words: [String] = []) {
        self.words = words
        name = key.rawValue
        self.content = content
        self.help = help
    }

    /// Makes the key of a section.
    fileprivate init(_ section: Plugin) {
        name = section.name
        content = .section(section)
        help = section.about
        words = section.words
    }

    /// The kind of the plugins under this key; nil if the key has none.
    package var kind: PluginKind? {
        switch content {
        case .plugin(let kind), .plugins(let kind): kind
        case .section(let plugin): plugin.kind
        case .value: nil
        }
    }

    static let schema = PolicyMember(.schema, .text("text"), help: "The JSON Schema of policies, for editors")
    static let extends = PolicyMember(
        .extends,
        .value(
            "the name of a file such as \"_base.json\"",
            schema: ["type": "string", "pattern": "^_[^/\\u0000]*\\.json$"]),
        help: "The file that this one extends: objects are merged, lists are replaced, null removes a key")
    static let resource = PolicyMember(
        .resource, .value("the file's name without \".json\"", schema: ["type": "string"]), help: "The resource's name",
        alsoCalled: ["name", "id"])
    static let about = PolicyMember(
        .about, .text("text"), help: "A description of the resource, for people",
        alsoCalled: ["description", "comment"])
    static let log = PolicyMember(
        .log, .value(SettingType.logShare.expectation, schema: SettingType.logShare.schema),
        help: "The share of its decisions that is logged")
    static let origin = PolicyMember(
        .origin, .plugin(.origin), help: "Where the data comes from", alsoCalled: ["source", "network", "fetch"])
    static let around = PolicyMember(
        .around, .plugins(.wrapper), help: "The wrappers around the origin, the outermost first",
        alsoCalled: ["wrappers", "middleware", "decorators", "interceptors"])
    static let strategy = PolicyMember(
        .strategy, .plugin(.strategy), help: "The order in which the origin and copies are tried")
    static let validators = PolicyMember(
        .validators, .plugins(.validator), help: "Which payloads may be kept and which copies may be shown",
        alsoCalled: ["validation"])
    static let store = PolicyMember(
        .store, .plugin(.store), help: "Where copies are kept", alsoCalled: ["cache", "storage"])
    static let fallbacks = PolicyMember(
        .fallbacks, .plugins(.origin), help: "The origins that are tried, in order, when all of that fails")

    /// The keys that every policy can have. Those of plugins are in the order of a reader's questions. Where does the
    /// data come from? How is it called? In which order are things tried? Which copies may still be shown? Where are
    /// they kept? What happens if all of that fails?
    package static let core = [
        schema, extends, resource, about, log, origin, around, strategy, validators, store, fallbacks,
    ]
}

extension Registry {
    /// All keys of policies: those that every policy can have, and the sections in the order of registration.
    package var members: [PolicyMember] { PolicyMember.core + self[.section].map { PolicyMember($0) } }
}

extension PolicyMember.Content {
    fileprivate static func text(_ expectation: String) -> PolicyMember.Content {
        .value(expectation, schema: ["type": "string", "minLength": 1])
    }
}
