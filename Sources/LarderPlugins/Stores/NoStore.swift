import LarderCore

extension Plugin {
    /// A store that keeps nothing.
    static let noStore = Plugin.store("none", "Keeps nothing.", traits: { .with { $0.keepsNothing = true } }) {
        $0.emptyStore
    }
}
