import Larder
import LarderSystem

/// Finds out whether editions go with the plugins of an app. It remembers what it found, because looking takes longer than all
/// else that a start does with an edition.
final class EditionFit: Sendable {
    private struct Known {
        var declarations: PluginDeclarations?
        var needs: [String: String?] = [:]
    }

    private let registry: Registry
    /// A mark of the program, which another version of the app does not have; nil if it has none.
    let program: String?
    private let known = Locked(Known())

    init(_ registry: Registry, program: String?) { (self.registry, self.program) = (registry, program) }

    /// The first plugin that an edition needs and the app does not have, in words; nil if it has all.
    func need(of kept: KeptEdition, knowing state: EditionState) -> String? {
        if let program, state.fitting == EditionState.Fitting(program: program, digest: kept.digest) { return nil }
        if let need = known.withLock({ $0.needs[kept.digest] }) { return need }
        let need = kept.edition.unmetNeed(in: declarations)
        known.withLock { $0.needs[kept.digest] = .some(need) }
        return need
    }

    /// A digest of all plugins of the app. Another version of the app mostly has another one.
    var digest: String { declarations.digest }

    private var declarations: PluginDeclarations {
        if let declarations = known.withLock({ $0.declarations }) { return declarations }
        let declarations = PluginDeclarations(registry)
        known.withLock { $0.declarations = declarations }
        return declarations
    }
}
