/// Reads the parts of a policy, and collects the problems of the policy.
package final class PartReader: PolicyDiagnostics {
    fileprivate let plugins: Registry
    private let prepared: CheckedSettingsPool
    /// The parts among the settings of the part that is being read.
    private var parts: [Part] = []

    /// Makes the reader of `file` in `folder`.
    package convenience init(registry: Registry, folder: String, file: String) {
        self.init(registry: registry, folder: folder, file: file, prepared: CheckedSettingsPool())
    }

    /// - Parameter prepared: the parts of other files that were read already.
    init(registry: Registry, folder: String, file: String, prepared: CheckedSettingsPool) {
        plugins = registry
        self.prepared = prepared
        super.init(folder: folder, file: file)
    }

    /// Reads the settings of a part, unless an equal part is known. Returns nil after reporting what is wrong with them.
    fileprivate func prepare(_ plugin: Plugin, _ settings: Node, named name: Node) -> CheckedSettings? {
        if !plugin.isShareable(with: settings) { return read(plugin, settings, named: name) }
        let text = CanonicalText(ofPart: settings, named: name)
        if text.isFilled { return read(plugin, settings, named: name) }
        if let known = prepared[plugin, text.bytes] { return known }
        let before = problems.count
        let part = read(plugin, settings, named: name)
        // A part with a problem is read again, so that the problem is reported for each.
        if let part, problems.count == before, before < Self.mostProblems { prepared[plugin, text.bytes] = part }
        return part
    }

    private func read(_ plugin: Plugin, _ settings: Node, named name: Node) -> CheckedSettings? {
        let outer = parts
        parts = []
        defer { parts = outer }
        guard let recipe = plugin.prepare(settings, self) else { return nil }
        return CheckedSettings(recipe, nested: parts, settings: settings, named: name)
    }

    fileprivate func found(_ part: Part) { parts.append(part) }
}

extension PolicyDiagnostics {
    /// The plugins that the policy may name; none if only values are read.
    package var registry: Registry { reader?.plugins ?? Registry() }

    fileprivate var reader: PartReader? { self as? PartReader }
}

extension Part {
    /// Makes the part that a reference (`"name"` or `{ "use": "name", … }`) names. Returns nil after reporting what is
    /// wrong with the reference.
    convenience init?(_ kind: PluginKind, node: Node, reading: PolicyDiagnostics) {
        guard let plugin = Self.plugin(kind, node: node, reading: reading) else { return nil }
        let settings = node.members == nil ? Node(.object([]), at: node.position) : node
        self.init(plugin, settings: settings, named: node["use"] ?? node, reading: reading)
    }

    /// Makes the part of a section from the object of its settings. Returns nil after reporting what is wrong with it.
    convenience init?(section plugin: Plugin, _ node: Node, _ reading: PolicyDiagnostics) {
        guard node.members != nil else {
            reading.reject(node, expected: "an object with the settings of \(plugin.kind) '\(plugin.name)', or {}")
            return nil
        }
        self.init(plugin, settings: node, named: Node(.string(plugin.name), at: node.position), reading: reading)
    }

    private convenience init?(_ plugin: Plugin, settings: Node, named name: Node, reading: PolicyDiagnostics) {
        let outer = reading.misnamed
        defer { reading.misnamed = outer }
        reading.misnamed = Self.misnamed(in: settings, plugin, reading)
        guard let prepared = reading.reader?.prepare(plugin, settings, named: name) else { return nil }
        self.init(
            plugin, settings: settings, named: name, path: reading.path, prepared: prepared, secrets: reading.secrets)
    }

    /// Makes a part of the first registered plugin of a kind, with default settings. Returns nil if there is no such
    /// plugin or it has a required setting.
    fileprivate convenience init?(defaultFor kind: PluginKind, in registry: Registry) {
        guard let plugin = registry[kind].first else { return nil }
        let node = Node(.object([]), at: SourcePosition(SourceText(name: "default", bytes: []), offset: 0))
        let reading = PartReader(registry: registry, folder: "", file: "default")
        guard let recipe = plugin.prepare(node, reading) else { return nil }
        let name = Node(.string(plugin.name), at: node.position)
        let prepared = CheckedSettings(recipe, nested: [], settings: node, named: name)
        self.init(plugin, settings: node, named: name, path: "$", prepared: prepared, isDefault: true)
    }

    private static func plugin(_ kind: PluginKind, node: Node, reading: PolicyDiagnostics) -> Plugin? {
        switch node.content {
        case .string: return named(node, kind: kind, reading: reading)
        case .object:
            guard let use = node["use"] else {
                let words = ["type", "name", "kind", "plugin", "uses", kind.name]
                let other = node.members?.first { words.contains($0.name.lowercased()) && $0.value.string != nil }
                let named = node.members?.lazy.compactMap { reading.registry[kind, $0.name] }.first
                reading.report(
                    "\(other.map { "'\($0.name)'" } ?? "this object") does not say which \(kind) to use",
                    at: other?.position ?? node.position,
                    expected: named.map { "{ \"use\": \"\($0.name)\", … }" } ?? "\"use\"")
                return nil
            }
            return reading.inside(".use") { named(use, kind: kind, reading: reading) }
        default:
            reading.reject(node, expected: "\(kind.withArticle): \"name\" or { \"use\": \"name\", … }")
            return nil
        }
    }

    private static func named(_ reference: Node, kind: PluginKind, reading: PolicyDiagnostics) -> Plugin? {
        guard let name = reference.string else {
            reading.reject(reference, expected: "the name of \(kind.withArticle)")
            return nil
        }
        if let plugin = reading.registry[kind, name] { return plugin }
        reading.reportUnknownPlugin(kind, name, at: reference)
        return nil
    }

    /// Reports settings that the plugin does not have. A setting of another plugin of the same kind is only a warning,
    /// so that a policy can swap `use` alone.
    ///
    /// - Returns: the required settings that are there under a wrong name.
    private static func misnamed(in settings: Node, _ plugin: Plugin, _ reading: PolicyDiagnostics) -> Set<String> {
        if plugin.isAssumed { return [] }
        let known = plugin.names
        var misnamed: Set<String> = []
        for member in settings.members ?? []
        where !known.contains(member.name) && (plugin.kind.isSection || member.name != "use") && !reading.isFull {
            if let name = reading.reportUnknownSetting(member, of: plugin, in: settings) { misnamed.insert(name) }
        }
        return misnamed
    }
}

extension Registry {
    /// Returns the first plugin of a kind with its default settings, for a part that a policy may leave out.
    ///
    /// - Throws: ``Conflict`` if no plugin of the kind is registered, or the first one has a required setting.
    package func defaultPart(of kind: PluginKind) throws(Conflict) -> Part {
        guard let part = Part(defaultFor: kind, in: self) else {
            throw Conflict(description: "no \(kind) is registered that needs no settings")
        }
        return part
    }
}

extension SettingType where Value == Part {
    /// A plugin of some kind with its settings, for a plugin that is made of other plugins.
    public static func part(_ kind: PluginKind) -> SettingType<Part> {
        SettingType(
            kind.name, expectation: "\(kind.withArticle): \"name\" or { \"use\": \"name\", … }",
            schema: ["$ref": .string("#/$defs/\(kind)")], show: { $0.plugin.name },
            read: { node, reading in
                let part = Part(kind, node: node, reading: reading)
                if let part { reading.reader?.found(part) }
                return part
            }
        ).naming(kind)
    }
}

extension Setting where Value == Part {
    /// Declares a part that may be left out. The first plugin of its kind in the registry is then used, with its default
    /// settings.
    public convenience init(_ name: String, defaultPartOf kind: PluginKind, help: String) {
        self.init(name, type: .part(kind), fallback: nil, help: help) { reading in
            guard let part = try? reading.registry.defaultPart(of: kind) else { return nil }
            reading.reader?.found(part)
            return part
        }
    }
}
