#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// All resources composed from one folder of policies.
///
/// ```swift
/// let pantry = try await Pantry(policies: folder)
/// let videos = try await pantry.resource("feed", as: [Video].self).load()
/// print(videos.value, videos.freshness, videos.trail)
/// ```
public final class Pantry: Sendable {
    private struct State {
        var slots: [String: Slot] = [:]
        /// A number for each codec in use; zero is raw bytes.
        var codecs: [AnyHashable: Int] = [:]
    }

    /// What is not wrong with the policies, but perhaps not what their author thinks.
    public let warnings: [Problem]
    private let world: any World
    private let state: Locked<State>

    /// Reads the policies in a folder and composes each; on any problem nothing is composed.
    ///
    /// - Parameters:
    ///   - policies: the folder. One file `NAME.json` for each resource.
    ///   - registry: the plugins the policies may name.
    ///   - cache: the folder that stores may write to; `larder` in the user's folder for caches by default.
    ///   - environment: where `${NAME}` in policies is looked up.
    ///   - world: time, randomness, background work and blocking I/O.
    /// - Throws: ``PolicyError`` with everything that is wrong with any of them.
    public init(
        policies: URL, registry: Registry = .standard, cache: URL? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment, world: any World = SystemWorld()
    ) async throws {
        let folder = policies.relativePath
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        guard let cacheDirectory = (cache ?? caches?.appending(path: "larder"))?.path else {
            throw PolicyError([Problem("the user has no folder for caches; name one", file: folder)])
        }
        let graphs = try await world.blocking {
            let composer = Composer(registry: registry, world: world, cacheDirectory: cacheDirectory)
            return try Self.composed(
                try PolicyReader(registry: registry, folder: folder, environment: environment).readAll(), by: composer)
        }
        self.world = world
        warnings = graphs.flatMap(\.graph.policy.warnings)
        let slots = graphs.map { ($0.graph.policy.resource, Slot($0.graph, meter: $0.meter)) }
        state = Locked(State(slots: Dictionary(uniqueKeysWithValues: slots)))
    }

    private static func composed(
        _ policies: [Policy], by composer: Composer
    ) throws(PolicyError) -> [(graph: LoaderGraph, meter: Meter)] {
        var graphs: [(graph: LoaderGraph, meter: Meter)] = []
        var problems: [Problem] = []
        for policy in policies {
            let meter = Meter()
            do { graphs.append((try composer.compose(policy, meter: meter), meter)) } catch {
                problems += error.problems
            }
        }
        if !problems.isEmpty { throw PolicyError(problems) }
        return graphs
    }

    /// The names of all resources, in order.
    public var resources: [String] {
        state.withLock { state in state.slots.filter { $0.value.graph != nil }.keys.sorted() }
    }

    /// The policy a resource runs on now; nil when there is no such resource.
    public func policy(of resource: String) -> Policy? {
        state.withLock { $0.slots[resource] }?.graph?.policy
    }

    /// A handle for the bytes of a resource. If there is no such resource, its loads say so.
    public func resource(_ name: String) -> Resource<Data> {
        Resource(slot: slot(name), codec: .raw, pantry: self)
    }

    /// A handle for a resource whose payloads are JSON.
    public func resource<Value: Decodable & Sendable>(_ name: String, as type: Value.Type) -> Resource<Value> {
        resource(name, codec: JSONCodec<Value>())
    }

    /// A handle for a resource whose payloads are read by a codec.
    public func resource<C: Codec>(_ name: String, codec: C) -> Resource<C.Value> {
        let id = state.withLock { state in
            let key = AnyHashable(codec)
            if let id = state.codecs[key] { return id }
            let id = state.codecs.count + 1
            state.codecs[key] = id
            return id
        }
        return Resource(slot: slot(name), codec: AnyCodec(codec, id: id), pantry: self)
    }

    /// What happened to each resource's loads so far.
    public var metrics: [String: ResourceMetrics] {
        let slots = state.withLock { $0.slots.filter { $0.value.graph != nil } }
        return slots.mapValues(\.meter.current)
    }

    /// Forgets every copy of every resource. Calls under way save nothing.
    ///
    /// - Throws: ``LoadError`` naming the resources whose store failed, after all were tried.
    public func clear() async throws {
        try await clear(.all)
    }

    /// Forgets every copy of one account, or of nobody, in every resource: after a logout, say.
    ///
    /// - Throws: ``LoadError`` naming the resources whose store failed, after all were tried.
    public func clear(scope: String?) async throws {
        try await clear(.scope(scope))
    }

    private func clear(_ selection: Selection) async throws {
        var failed: [String] = []
        var first: (any Error)?
        for (name, slot) in state.withLock({ $0.slots }).sorted(by: { $0.key < $1.key }) {
            do {
                try await slot.graph?.shelf.clear(selection)
            } catch {
                failed.append(name)
                first = first ?? error
            }
        }
        guard let first else { return }
        var error = LoadError(.failed, "not cleared: \(failed.joined(separator: ", "))")
        error.store = first
        throw error
    }

    private func slot(_ name: String) -> Slot {
        state.withLock { state in
            if let slot = state.slots[name] { return slot }
            let slot = Slot(nil, name: name)
            state.slots[name] = slot
            return slot
        }
    }
}

/// Where a resource's present graph is found, so that handles name a resource and not a graph.
final class Slot: Sendable {
    let name: String
    let meter: Meter
    private let current: Locked<LoaderGraph?>

    init(_ graph: LoaderGraph?, name: String? = nil, meter: Meter = Meter()) {
        self.name = name ?? graph?.policy.resource ?? ""
        self.meter = meter
        current = Locked(graph)
    }

    var graph: LoaderGraph? { current.withLock { $0 } }
}
