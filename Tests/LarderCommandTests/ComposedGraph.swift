@testable import Larder

/// What a graph that was really composed is made of: the types of its loaders and stores, outermost first.
struct ComposedGraph {
    private(set) var loaders: [String] = []
    private(set) var stores: [String] = []

    init(_ policy: Policy, cache: String) throws {
        let composer = Composer(registry: .standard, world: SystemWorld(), cacheDirectory: cache)
        let graph = try composer.compose(policy, in: Slot(policy.resource, heardBy: Hearing()))
        visit(graph.root)
        // What stands for a store where the policy names none.
        if policy.store == nil { stores = [] }
    }

    private mutating func visit(_ loader: any Loader) {
        if loader is Nothing { return }
        loaders.append(String(describing: type(of: loader)))
        if let lookup = loader as? Lookup { visit(lookup.shelf.store) }
        for child in Mirror(reflecting: loader).children where !Self.isKnownElsewhere(child.label, in: loader) {
            switch child.value {
            case let inner as any Loader: visit(inner)
            case let sides as Sides:
                visit(sides.live)
                visit(sides.cached)
            case let others as [(name: String, loader: any Loader)]: others.forEach { visit($0.loader) }
            default: break
            }
        }
    }

    private mutating func visit(_ store: any Store) {
        if let limited = store as? LimitedStore { return visit(limited.store) }
        stores.append(String(describing: type(of: store)))
        for child in Mirror(reflecting: store).children {
            if let tiers = child.value as? [(name: String, store: any Store)] { tiers.forEach { visit($0.store) } }
        }
    }

    /// These look at what stands elsewhere in the graph.
    private static func isKnownElsewhere(_ label: String?, in loader: any Loader) -> Bool {
        loader is Asked && label == "sides" || loader is Saving && label == "cached"
    }

    /// What an outline calls a type: `StaleWhileRevalidate` is `stale-while-revalidate`.
    static func name(of type: String) -> String {
        let others = [
            "MeasuredOrigin": "measured", "FileOrigin": "file", "MemoryStore": "memory", "FileStore": "file",
            "TieredStore": "tiered", "EmptyStore": "none",
        ]
        if let name = others[type] { return name }
        return type.reduce(into: "") { name, letter in
            name += letter.isUppercase && !name.isEmpty ? "-" + letter.lowercased() : letter.lowercased()
        }
    }
}
