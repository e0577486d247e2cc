/// The plugins that policies may name.
///
/// ```swift
/// var registry = Registry.standard
/// try registry.register(.origin("videos") { call in try await api.videos() })
/// ```
public struct Registry: Sendable {
    /// A plugin that cannot be registered.
    public struct Conflict: Error, Sendable, CustomStringConvertible {
        /// What is wrong, in words.
        public let description: String
    }

    private var plugins: [PluginKind: [Plugin]] = [:]

    /// A registry without plugins.
    public init() {}

    /// A registry of these plugins.
    ///
    /// - Throws: ``Conflict`` when two of one kind have one name.
    public init(_ plugins: [Plugin]) throws(Conflict) {
        for plugin in plugins { try register(plugin) }
    }

    /// Makes a plugin known to policies.
    ///
    /// - Throws: ``Conflict`` when there is one of its kind and name, when the name is empty, or when two of its settings
    ///   share a name or one is called `use`.
    public mutating func register(_ plugin: Plugin) throws(Conflict) {
        if plugin.name.isEmpty { throw Conflict(description: "a \(plugin.kind) has an empty name") }
        if self[plugin.kind, plugin.name] != nil {
            throw Conflict(
                description:
                    "there are two plugins of the kind \(plugin.kind) called '\(plugin.name)'; use replacing(_:) to replace one"
            )
        }
        var names: Set<String> = ["use"]
        for setting in plugin.settings where !names.insert(setting.name).inserted {
            throw Conflict(
                description: "\(plugin.kind) '\(plugin.name)' cannot have (another) setting called '\(setting.name)'")
        }
        add(plugin)
    }

    /// Adds a plugin that is known to be in order.
    mutating func add(_ plugin: Plugin) {
        plugins[plugin.kind, default: []].append(plugin)
    }

    /// A registry in which `plugin` stands for the one of its kind and name, if there was one.
    public func replacing(_ plugin: Plugin) throws(Conflict) -> Registry {
        var copy = self
        let place = copy.plugins[plugin.kind]?.firstIndex { $0.name == plugin.name }
        if let place { copy.plugins[plugin.kind]?.remove(at: place) }
        try copy.register(plugin)
        if let place, let last = copy.plugins[plugin.kind]?.popLast() {
            copy.plugins[plugin.kind]?.insert(last, at: place)
        }
        return copy
    }

    /// The plugins of a kind, in the order in which they were registered. The first is the default where a part may be
    /// left out.
    public subscript(kind: PluginKind) -> [Plugin] {
        plugins[kind] ?? []
    }

    /// The plugin of this kind and name.
    public subscript(kind: PluginKind, name: String) -> Plugin? {
        plugins[kind]?.first { $0.name == name }
    }
}
