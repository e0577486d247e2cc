extension Registry {
    /// The plugins that come with Larder: ``Plugin/standard``. It also knows the modules of ``ModulePlugin/known``.
    public static let standard: Registry = {
        var registry = Registry()
        for plugin in Plugin.standard { registry.add(plugin) }
        registry.note(ModulePlugin.known)
        return registry
    }()
}
