public import Larder
import LarderSystem

/// A plugin in the needs of an edition: its kind and its name.
struct PluginName: Hashable {
    var kind: String
    var name: String

    init(kind: String, name: String) { (self.kind, self.name) = (kind, name) }

    /// Reads `strategy network-first`. Returns nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, text.utf8.count <= 200, !parts[1].isEmpty,
            !parts[0].isEmpty, parts[0].utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (97...122).contains($0) }),
            !parts[1].unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        self.init(kind: String(parts[0]), name: String(parts[1]))
    }

    var text: String { "\(kind) \(name)" }
}

extension EditionFile {
    /// A need that any plugin of the kind and name meets.
    public static let anyDeclaration = "any"

    /// Returns the first plugin that the edition needs and `registry` does not have as the edition needs it, in words. Returns
    /// nil if the registry meets every need.
    public func unmetNeed(in registry: Registry) -> String? { unmetNeed(in: PluginDeclarations(registry)) }

    func unmetNeed(in declarations: PluginDeclarations) -> String? {
        for (text, digest) in plugins.sorted(by: { $0.key < $1.key }) {
            guard let plugin = PluginName(text) else { continue }
            guard declarations.has(plugin) else { return "this app has no \(plugin.kind) '\(plugin.name)'" }
            if digest != Self.anyDeclaration, declarations.digest(of: plugin) != digest {
                return "\(plugin.kind) '\(plugin.name)' has other settings in this app"
            }
        }
        return nil
    }

    /// Returns the needs of policies: the digest of the declaration of each plugin that they name.
    ///
    /// A plugin that `registry` does not have is left out. So is one whose name comes from the environment. Those in
    /// `undeclared`, such as `store mine`, need only be there, because nothing but their kind and name is known.
    public static func needs(
        of policies: [String: JSON], in registry: Registry, undeclared: Set<String> = []
    ) -> [String: String] {
        let declarations = PluginDeclarations(registry)
        var needs: [String: String] = [:]
        for plugin in declarations.plugins(namedBy: policies.values) {
            needs[plugin.text] = undeclared.contains(plugin.text) ? anyDeclaration : declarations.digest(of: plugin)
        }
        return needs
    }
}
