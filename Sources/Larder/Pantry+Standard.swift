public import LarderFoundation

extension Pantry {
    /// Reads the policies in a folder, which may name the standard plugins, and composes each. If there is any problem,
    /// nothing is composed.
    ///
    /// For policies that name plugins of your own, use
    /// ``init(policies:registry:cache:data:ifCacheUnusable:ifUnsound:environment:world:)``, which takes the same parameters.
    ///
    /// - Throws: ``PolicyError`` with all problems of all policies.
    public convenience init(
        policies: URL, cache: URL? = nil, data: URL? = nil, ifCacheUnusable: UnusableCacheAction = .goOn,
        ifUnsound: UnsoundPoliciesAction = .fail,
        environment: [String: String] = ProcessInfo.processInfo.environment, world: any World = SystemWorld()
    ) async throws {
        try await self.init(
            policies: policies, registry: .standard, cache: cache, data: data, ifCacheUnusable: ifCacheUnusable,
            ifUnsound: ifUnsound, environment: environment, world: world)
    }

    /// Reads policies that are in memory, which may name the standard plugins, and composes each. If there is any
    /// problem, nothing is composed.
    ///
    /// See ``init(policies:files:registry:cache:data:ifCacheUnusable:environment:world:)``, which takes the same parameters.
    ///
    /// - Throws: ``PolicyError`` with all problems of all policies.
    public convenience init(
        policies: [String: String], files: URL? = nil, cache: URL? = nil, data: URL? = nil,
        ifCacheUnusable: UnusableCacheAction = .goOn,
        environment: [String: String] = ProcessInfo.processInfo.environment, world: any World = SystemWorld()
    ) async throws {
        try await self.init(
            policies: policies, files: files, registry: .standard, cache: cache, data: data,
            ifCacheUnusable: ifCacheUnusable,
            environment: environment, world: world)
    }
}
