import LarderFoundation
import LarderSystem
import Larder

/// A plugin under test, with its settings and the plugins that the settings may name.
struct TestedPlugin: Sendable {
    /// The name of the resource that uses the plugin.
    static let resource = "conformance"

    let plugin: Plugin
    let settings: JSON
    let registry: Registry
    var files: [String: String] = [:]

    /// A request without parameters.
    static let request = Request(resource)

    static func key(_ parameters: Parameters = [:], scope: String? = nil) -> Key {
        Key(resource: resource, scope: scope, parameters: parameters)
    }

    /// The plugin as a policy names it.
    var reference: JSON { .joined(["use": .string(plugin.name)], settings) }

    /// Returns a pantry of one policy. By default, its origin plays a script, its store fails when a test says so, and
    /// its strategy uses both.
    func pantry(
        in world: SimulatedWorld, _ members: [JSON.Member], plugins: [Plugin] = [], isStoreForeign: Bool = true,
        cache: TemporaryFolder? = nil
    ) async throws -> SimulatedPantry {
        var policy: [JSON.Member] = [
            .init("resource", .string(Self.resource)), .init("origin", "scripted"), .init("store", "faulty"),
            .init("strategy", "conformance-strategy"),
        ]
        for member in members {
            policy.removeAll { $0.name == member.name }
            policy.append(member)
        }
        let strategy = Plugin.strategy("conformance-strategy", "Uses both sides.") { $0.live }
        return try await SimulatedPantry(
            [Self.resource: JSON.object(policy).text()], in: world, registry: registry,
            plugins: [strategy, plugin] + plugins, files: files, isStoreForeign: isStoreForeign, cache: cache)
    }

    /// Composes the plugin and returns the object that it makes.
    ///
    /// - Parameters:
    ///   - place: returns the member of a policy that contains a plugin of this kind.
    ///   - probe: returns a plugin that makes the object of the setting and passes it to the closure.
    func composed<Made: Sendable>(
        in world: SimulatedWorld, cache: TemporaryFolder? = nil, at place: (JSON) -> JSON.Member,
        _ probe: (Setting<Part>, @escaping @Sendable (Made, Part) -> Void) -> Plugin
    ) async throws -> (SimulatedPantry, Made, Part) {
        let made = Locked<(Made, Part)?>(nil)
        let setting = Setting("of", .part(plugin.kind), help: "The plugin that is tested")
        let probe = probe(setting) { object, part in made.withLock { $0 = (object, part) } }
        let pantry = try await pantry(
            in: world, [place(["use": .string(probe.name), "of": reference])], plugins: [probe], cache: cache)
        guard let (object, part) = made.withLock({ $0 }) else { throw LoadError(.failed, "it was not composed") }
        return (pantry, object, part)
    }
}

extension SimulatedPantry {
    /// Starts a load in a task beside the scenario.
    func load() -> ObservedTask<Loaded<Data>> {
        ObservedTask(in: world) { [resource] in try await resource.load() }
    }

    /// The number of running tasks, without the scenario's own.
    var leftRunning: Int { world.unfinished - 1 }
}

extension World {
    /// Runs everything that can run without time passing.
    func runPendingTasks() async throws { try await sleep(for: .zero) }
}
