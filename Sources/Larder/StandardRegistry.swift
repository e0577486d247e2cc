extension Registry {
    /// The plugins that come with Larder: ``Plugin/standard``.
    public static let standard: Registry = {
        var registry = Registry()
        for plugin in Plugin.standard { registry.add(plugin) }
        return registry
    }()
}
