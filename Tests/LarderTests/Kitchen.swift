import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// A pantry of one policy with scripted surroundings, in simulated time: what most tests here begin with.
struct Kitchen {
    let world: SimulatedWorld
    let origin: ScriptedOrigin
    let store: FaultyStore
    let pantry: Pantry
    /// Holds the policy.
    let folder: Folder

    var feed: Resource<Data> { pantry.resource("feed") }

    /// A pantry whose only resource is `feed`: origin `scripted` and store `faulty` unless told otherwise.
    init(
        _ world: SimulatedWorld, strategy: String, validators: String = "[]", around: String = "[]",
        fallbacks: String = "[]", store storePart: String = #""faulty""#, foreignStore: Bool = true,
        plugins: [Plugin] = [],
        origin originPart: String = #""scripted""#
    ) async throws {
        self.world = world
        origin = ScriptedOrigin(world: world)
        store = FaultyStore(isForeign: foreignStore, world: world)
        var registry = Registry.standard
        for plugin in [origin.plugin("scripted"), store.plugin] + plugins { try registry.register(plugin) }
        folder = try Folder()
        try folder.write(
            """
            { "resource": "feed", "origin": \(originPart), "around": \(around), "strategy": \(strategy),
              "validators": \(validators), "store": \(storePart), "fallbacks": \(fallbacks) }
            """, to: "feed.json")
        pantry = try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
    }

    /// The key of `feed` with these parameters.
    func key(_ parameters: [String: String] = [:], scope: String? = nil) -> Key {
        Key(resource: "feed", scope: scope, parameters: parameters)
    }

    /// Puts a copy in the store that is `age` old.
    func stock(_ text: String, age: Duration, etag: String? = nil, _ key: Key? = nil) {
        let entry = Entry(Data(text.utf8), Metadata(fetchedAt: world.now - age, etag: etag))
        store.put(entry, for: key ?? self.key())
    }
}

extension Loaded where Value == Data {
    /// The bytes as text.
    var text: String { String(decoding: value, as: UTF8.self) }
}

/// A folder of its own that goes when nobody needs it any more.
final class Folder: Sendable {
    let url: URL

    var path: String { url.path }

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: url.appending(path: name))
    }

    func text(of name: String) throws -> String {
        try String(contentsOf: url.appending(path: name), encoding: .utf8)
    }

    /// Puts one text in place of another in a file.
    func edit(_ name: String, _ old: String, _ new: String) throws {
        let text = try text(of: name)
        precondition(text.contains(old))
        try write(text.replacing(old, with: new), to: name)
    }
}
