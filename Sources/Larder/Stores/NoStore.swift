extension Plugin {
    /// Nothing is kept.
    static let noStore = Plugin.store("none", "Keeps nothing.", traits: { Traits().with { $0.keepsNothing = true } }) {
        _ in EmptyStore()
    }
}
