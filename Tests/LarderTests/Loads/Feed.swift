import LarderFoundation
import Larder
import LarderSimulation
import Testing

extension SimulatedPantry {
    /// A pantry whose only resource is `feed`: origin `scripted` and store `faulty` unless told otherwise.
    init(
        _ world: SimulatedWorld, strategy: String, validators: String = "[]", around: String = "[]",
        fallbacks: String = "[]", store: String = #""faulty""#, isStoreForeign: Bool = true, plugins: [Plugin] = [],
        files: [String: String] = [:], cache: TemporaryFolder? = nil, origin: String = #""scripted""#
    ) async throws {
        let feed = """
            { "resource": "feed", "origin": \(origin), "around": \(around), "strategy": \(strategy),
              "validators": \(validators), "store": \(store), "fallbacks": \(fallbacks) }
            """
        try await self.init(
            ["feed": feed], in: world, plugins: plugins, files: files, isStoreForeign: isStoreForeign, cache: cache)
    }

    var feed: Resource<Data> { pantry.resource("feed") }

    /// Returns the policy of `feed` with one text replaced by another.
    func feed(with old: String, _ new: String) throws -> String {
        let policy = try #require(pantry.policy(of: "feed"))
        let text = String(decoding: policy.tree.position.source.bytes, as: UTF8.self)
        #expect(text.contains(old))
        return text.replacing(old, with: new)
    }

    /// Swaps the policy of `feed` for one with one text in the place of another.
    @discardableResult
    func edit(_ old: String, _ new: String) async throws -> [PolicyChange] {
        try await pantry.replace(policies: ["feed": feed(with: old, new)])
    }

    /// A load of `feed` that goes on beside the test.
    func start(
        _ parameters: Parameters = [:], scope: String? = nil, mode: Request.Mode = .normal,
        deadline: Duration? = nil, priority: Request.Priority = .normal
    ) -> Started<Loaded<Data>> {
        let request = feed.request(parameters, scope: scope, mode: mode, deadline: deadline, priority: priority)
        return world.start { [feed] in try await feed.load(request) }
    }

    /// So many loads at a time, each of an instance of its own: `id` 1 and up.
    func crowd(_ count: Int, priority: Request.Priority = .normal) -> [Started<Loaded<Data>>] {
        (1...count).map { start(["id": "\($0)"], priority: priority) }
    }
}

extension Loaded where Value == Data {
    /// The bytes as text.
    var text: String { String(decoding: value, as: UTF8.self) }
}
