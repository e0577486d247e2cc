// Plugins with other code behind the same declaration, for playing policies in simulated time.

extension Plugin {
    /// Whether it is made of other plugins of its kind, such as tiers or mirrors.
    package var isMadeOfOthers: Bool { settings.contains { $0.kind == kind } }

    /// Returns this store with other code. Its settings, traits and limit stay.
    ///
    /// - Parameter make: makes the store. It gets the plugin's traits, and a closure that makes the plugin's own store.
    package func replacingStore(
        _ make: @escaping @Sendable (StoreContext, StoreTraits, () throws -> any Store) throws -> any Store
    ) -> Plugin {
        replacing { [name] recipe in
            guard case .store(let traits, let own) = recipe else { return recipe }
            return .store(traits) { context in
                let store = try make(context, traits) { try own(context) }
                guard let limit = traits.givesUpAfter else { return store }
                return LimitedStore(store, limit: limit, name: name, world: context.world)
            }
        }
    }

    /// Returns this origin with other code. Its settings and traits stay.
    ///
    /// - Parameter make: makes the origin. It gets the plugin's traits, and a closure that makes the plugin's own origin.
    package func replacingOrigin(
        _ make: @escaping @Sendable (OriginContext, OriginTraits, () throws -> any Loader) throws -> any Loader
    ) -> Plugin {
        replacing { recipe in
            guard case .origin(let traits, let own) = recipe else { return recipe }
            return .origin(traits) { context in try make(context, traits) { try own(context) } }
        }
    }

    private func replacing(_ recipe: @escaping @Sendable (Recipe) -> Recipe) -> Plugin {
        Plugin(
            kind, name: name, about: about, settings: settings, needs: needs, metrics: metrics,
            isAssumed: isAssumed,
            isCustom: isCustom
        ) { [prepare] node, reading in
            prepare(node, reading).map(recipe)
        }
    }
}
