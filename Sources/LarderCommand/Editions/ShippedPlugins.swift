public import Larder
import LarderEditions

extension Registry {
    /// The standard plugins, and those of the modules that come with Larder: the plugins that the tool `larder` knows.
    public static let shipped: Registry = {
        var registry = Registry.standard
        registry.add(.channel)
        return registry
    }()
}
