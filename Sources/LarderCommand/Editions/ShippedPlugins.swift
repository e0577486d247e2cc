public import Larder
import LarderEditions
import LarderSync

extension Registry {
    /// The standard plugins, and those of the modules that come with Larder: the plugins that the tool `larder` knows.
    public static let shipped: Registry = {
        var registry = Registry.standard
        for plugin in [.channel] + .sync { registry.add(plugin) }
        return registry
    }()
}
