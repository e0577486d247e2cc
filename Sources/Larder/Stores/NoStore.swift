extension Plugin {
    /// Nothing is kept.
    static let noStore = Plugin.store("none", "Keeps nothing.") { _ in EmptyStore() }
}
