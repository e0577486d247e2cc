/// A plugin of a module that a program may lack. A policy that names it then gets an error that names the module.
public struct ModulePlugin: Sendable {
    /// The kind of plugin.
    public let kind: PluginKind
    /// The name of the plugin.
    public let name: String
    /// The module that has it.
    public let module: String

    /// Notes the module of a plugin.
    public init(_ kind: PluginKind, _ name: String, in module: String) {
        self.kind = kind
        self.name = name
        self.module = module
    }
}

extension Registry {
    /// Notes plugins of modules that the program may lack. Registered plugins are not affected.
    ///
    /// ```swift
    /// registry.note([ModulePlugin(.section, "outbox", in: "LarderSync")])
    /// ```
    public mutating func note(_ plugins: [ModulePlugin]) {
        for plugin in plugins { modules[Problem.UnknownPlugin(kind: plugin.kind, name: plugin.name)] = plugin.module }
    }
}

extension PolicyDiagnostics {
    /// Reports that an unregistered plugin is in a module, if the registry knows the module.
    ///
    /// - Returns: whether it is known.
    func reportAbsent(_ kind: PluginKind, _ name: String, at position: SourcePosition) -> Bool {
        let unknown = Problem.UnknownPlugin(kind: kind, name: name)
        guard let module = registry.modules[unknown] else { return false }
        report(
            "\(kind) '\(name)' is in the module \(module): add it to your target and register its plugins",
            at: position, unknown: unknown)
        return true
    }

    /// Reports a key that is not in `known`. It may be a section of an absent module.
    func reportUnknownKey(_ member: Node.Member, message: String, sections: PluginKind?, known: [String]) {
        if let sections, reportAbsent(sections, member.name, at: member.position) { return }
        report(
            message, at: member.position, expected: "one of " + known.map { "'\($0)'" }.joined(separator: ", "),
            suggestion: closestName(to: member.name, among: known))
    }
}
