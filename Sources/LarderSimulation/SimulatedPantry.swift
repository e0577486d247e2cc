import LarderSystem
public import LarderFoundation
public import Larder

/// A pantry in simulated time, with an origin that plays a script and a store that fails as a test demands.
///
/// The test contains the policies. They name the origin `scripted` and the store `faulty`, or any other plugin:
///
/// ```swift
/// let feed = #"{ "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "faulty" }"#
/// try SimulatedPantry.run(["feed": feed]) { simulated in
///     simulated.origin.play(.value("one"), .failure(.status(503)))
///     let loaded = try await simulated.resource.load()
///     #expect(loaded.source == .origin && simulated.held() == "one")
/// }
/// ```
///
/// To test policies that an app ships, use ``run(folder:registry:plugins:environment:seed:leaving:_:)``. There, the
/// script replaces the origin of every resource.
public struct SimulatedPantry: Sendable {
    /// The world in which everything happens.
    public let world: SimulatedWorld
    /// The origin `scripted`.
    public let origin: ScriptedOrigin
    /// The store `faulty`.
    public let store: FaultyStore
    /// The pantry.
    public let pantry: Pantry
    /// The folder that stores write to.
    public let cache: TemporaryFolder
    /// The folder for data of users that is not a cache.
    public let data: TemporaryFolder
    /// The folder of the files that policies read, if there are any.
    private let files: TemporaryFolder?

    /// Creates a pantry of policies, in a run of `world`.
    ///
    /// - Parameters:
    ///   - policies: the text of each policy under the name of its resource, as `Pantry` takes them.
    ///   - world: the world of the run.
    ///   - registry: the plugins that the policies may name, beside `scripted` and `faulty`.
    ///   - plugins: more plugins. They replace those of the same name.
    ///   - files: the files that policies read, such as a fallback's: the text of each under its path.
    ///   - isStoreForeign: whether the entries of the store `faulty` count as coming from outside the process.
    ///   - cache: the folder that stores write to. Pass that of another pantry to start with its copies. By default, a
    ///     new folder.
    ///   - data: the folder for data of users that is not a cache. By default, a new folder.
    ///   - environment: the values of `${NAME}` in policies.
    /// - Throws: `PolicyError` with all errors in the policies.
    public init(
        _ policies: [String: String], in world: SimulatedWorld, registry: Registry = .standard, plugins: [Plugin] = [],
        files: [String: String] = [:], isStoreForeign: Bool = true, cache: TemporaryFolder? = nil,
        data: TemporaryFolder? = nil,
        environment: [String: String] = [:]
    ) async throws {
        let folder = files.isEmpty ? nil : try TemporaryFolder()
        for (name, text) in files { try folder?.write(text, to: name) }
        try await self.init(
            in: world, isStoreForeign: isStoreForeign, cache: cache, data: data, files: folder
        ) { origin, store, cache, data in
            try await Pantry(
                policies: policies, files: folder?.url,
                registry: registry.replacing([origin.plugin("scripted"), store.plugin] + plugins), cache: cache,
                data: data,
                environment: environment, world: world)
        }
    }

    /// Creates a pantry of the policies in a folder, in a run of `world`. The script replaces the origin of every
    /// policy.
    ///
    /// The files that `_larder.json` names are not written.
    ///
    /// - Parameters:
    ///   - folder: the folder. One file `NAME.json` for each resource.
    ///   - world: the world of the run.
    ///   - registry: the plugins that the policies may name.
    ///   - plugins: more plugins. They replace those of the same name.
    ///   - cache: the folder that stores write to. Pass that of another pantry to start with its copies. By default, a
    ///     new folder.
    ///   - data: the folder for data of users that is not a cache. By default, a new folder.
    ///   - environment: the values of `${NAME}` in policies.
    /// - Throws: `PolicyError` with all errors in the policies.
    public init(
        folder: URL, in world: SimulatedWorld, registry: Registry = .standard, plugins: [Plugin] = [],
        cache: TemporaryFolder? = nil, data: TemporaryFolder? = nil, environment: [String: String] = [:]
    ) async throws {
        try await self.init(in: world, cache: cache, data: data) { origin, store, cache, data in
            let registry = try registry.replacing([origin.plugin("scripted"), store.plugin] + plugins)
            let reader = PolicyReader(registry: registry, folder: folder.shortPath, environment: environment)
            return try await Pantry(
                reader: reader.withoutProcess, cache: cache, data: data, world: world, substitute: { _ in origin })
        }
    }

    private init(
        in world: SimulatedWorld, isStoreForeign: Bool = true, cache: TemporaryFolder?, data: TemporaryFolder?,
        files: TemporaryFolder? = nil,
        _ make: (ScriptedOrigin, FaultyStore, URL, URL) async throws -> Pantry
    ) async throws {
        self.world = world
        self.files = files
        self.cache = try cache ?? TemporaryFolder()
        self.data = try data ?? TemporaryFolder()
        origin = ScriptedOrigin(world: world)
        store = FaultyStore(isForeign: isStoreForeign, world: world)
        pantry = try await make(origin, store, self.cache.url, self.data.url)
    }

    /// Runs a test with a pantry of policies, in a world of its own.
    ///
    /// - Parameters:
    ///   - policies: the text of each policy under the name of its resource.
    ///   - registry: the plugins that the policies may name, beside `scripted` and `faulty`.
    ///   - plugins: more plugins. They replace those of the same name.
    ///   - files: the files that policies read, such as a fallback's: the text of each under its path.
    ///   - isStoreForeign: whether the entries of the store `faulty` count as coming from outside the process.
    ///   - environment: the values of `${NAME}` in policies.
    ///   - seed: the seed of the world.
    ///   - leaving: the work that may still be running when the test returns.
    ///   - test: the test. It gets the pantry.
    /// - Throws: the test's error, the errors of `SimulatedWorld.run`, or `PolicyError`.
    public static func run<Value: Sendable>(
        _ policies: [String: String], registry: Registry = .standard, plugins: [Plugin] = [],
        files: [String: String] = [:], isStoreForeign: Bool = true, environment: [String: String] = [:],
        seed: UInt64 = 1, leaving: SimulatedWorld.Leaving = .nothing,
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Value
    ) throws -> Value {
        try SimulatedWorld(seed: seed).run(leaving: leaving) { world in
            try await test(
                SimulatedPantry(
                    policies, in: world, registry: registry, plugins: plugins, files: files,
                    isStoreForeign: isStoreForeign, environment: environment))
        }
    }

    /// Runs a test with a pantry of the policies in a folder, in a world of its own. The script replaces the origin of
    /// every policy.
    ///
    /// - Parameters:
    ///   - folder: the folder. One file `NAME.json` for each resource.
    ///   - registry: the plugins that the policies may name.
    ///   - plugins: more plugins. They replace those of the same name.
    ///   - environment: the values of `${NAME}` in policies.
    ///   - seed: the seed of the world.
    ///   - leaving: the work that may still be running when the test returns.
    ///   - test: the test. It gets the pantry.
    /// - Throws: the test's error, the errors of `SimulatedWorld.run`, or `PolicyError`.
    public static func run<Value: Sendable>(
        folder: URL, registry: Registry = .standard, plugins: [Plugin] = [], environment: [String: String] = [:],
        seed: UInt64 = 1, leaving: SimulatedWorld.Leaving = .nothing,
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Value
    ) throws -> Value {
        try SimulatedWorld(seed: seed).run(leaving: leaving) { world in
            try await test(
                SimulatedPantry(
                    folder: folder, in: world, registry: registry, plugins: plugins, environment: environment))
        }
    }

    // MARK: The resource

    /// A handle for the pantry's resource as bytes. If there are several resources, it is the first by name.
    public var resource: Resource<Data> { pantry.resource(pantry.resources.first ?? "") }

    /// Returns the key of a request for ``resource``.
    public func key(_ parameters: Parameters = [:], scope: String? = nil) -> Key {
        resource.request(parameters, scope: scope).key
    }

    /// Adds a copy to the store `faulty`, with what the policy's validators note when a payload arrives from the origin.
    /// If they refuse the payload, the copy has none of their notes.
    ///
    /// - Parameters:
    ///   - text: the payload.
    ///   - age: the age of the copy.
    ///   - etag: the tag that the origin gave it.
    ///   - key: the key of the copy. By default, that of ``resource`` without parameters.
    public func stock(_ text: String, age: Duration, etag: String? = nil, for key: Key? = nil) {
        let entry = Entry(Data(text.utf8), Metadata(fetchedAt: world.now - age, etag: etag))
        let key = key ?? self.key()
        store.put(pantry.admitted(entry, by: key.resource) ?? entry, for: key)
    }

    /// Returns the copy that the store `faulty` keeps, as text.
    public func held(_ key: Key? = nil) -> String? {
        store.entries[key ?? self.key()].map { String(decoding: $0.payload.bytes, as: UTF8.self) }
    }
}

extension Registry {
    /// Returns this registry with `plugins` in place of those with the same names.
    fileprivate func replacing(_ plugins: [Plugin]) throws -> Registry {
        try plugins.reduce(self) { try $0.replacing($1) }
    }
}
