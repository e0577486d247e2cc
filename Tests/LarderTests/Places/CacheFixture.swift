import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// Real folders for policies and for the cache, in which a test opens one pantry after another.
struct CacheFixture {
    static let file = #""file""#
    static let memory = #""memory""#
    static let tiered = #"{ "use": "tiered", "tiers": ["memory", "file"] }"#
    /// The payload of every entry of the account `alice`.
    static let secret = "alices-payload"

    let world: SimulatedWorld
    let origin: ScriptedOrigin
    let folder: Folder
    var registry = Registry.standard

    var policies: URL { folder.url.appending(path: "policies", directoryHint: .isDirectory) }
    var cache: URL { folder.url.appending(path: "cache", directoryHint: .isDirectory) }

    init(_ world: SimulatedWorld, plugins: [Plugin] = []) throws {
        self.world = world
        origin = ScriptedOrigin(world: world)
        folder = try Folder()
        for plugin in [origin.plugin("scripted")] + plugins { try registry.register(plugin) }
        try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
        // A folder without policies is an error.
        try write("other", store: Self.memory)
        origin.play(
            then: .answering { call in
                Entry(Data((call.request.key.scope == "alice" ? Self.secret : "bobs").utf8), Metadata())
            })
    }

    func write(_ resource: String, store: String) throws {
        try folder.write(
            """
            { "resource": "\(resource)", "origin": "scripted", "strategy": "cache-first", "store": \(store),
              "validators": [{ "use": "age", "fresh": "30d" }] }
            """, to: "policies/\(resource).json")
    }

    func delete(_ resource: String) throws {
        try FileManager.default.removeItem(at: policies.appending(path: resource + ".json"))
    }

    func open(ifCacheUnusable action: UnusableCacheAction = .goOn) async throws -> Pantry {
        try await Pantry(
            policies: policies, registry: registry, cache: cache, data: folder.url.appending(path: "data"),
            ifCacheUnusable: action, environment: [:], world: world)
    }

    /// Loads a copy for the account `alice` and one for `bob`.
    func fill(_ pantry: Pantry, _ resource: String = "feed") async throws {
        for scope in ["alice", "bob"] { _ = try await pantry.resource(resource).load(scope: scope) }
    }

    /// Returns whether a copy is served to an account.
    func isServed(_ scope: String, by pantry: Pantry, _ resource: String = "feed") async throws -> Bool {
        do {
            _ = try await pantry.resource(resource).load(scope: scope, mode: .cachedOnly)
            return true
        } catch let error as LoadError where error.code == .notCached {
            return false
        }
    }

    /// The files below the cache folder with data of `alice`: her payload, or her scope in their names or contents.
    var traces: [String] {
        let prefix = SHA256.hex("alice".utf8).prefix(32)
        return folder.names(below: "cache").filter { name in
            let bytes = (try? Data(contentsOf: cache.appending(path: name))) ?? Data()
            let text = String(decoding: bytes, as: UTF8.self)
            return name.contains(prefix) || text.contains(Self.secret) || text.contains("alice")
        }
    }

    /// The names of the recorded clearings.
    var clearings: [String] { folder.names(below: "cache/.places").filter { $0.hasPrefix("clearing-") } }

    func isThere(_ place: String) -> Bool { Disk.isThere(cache.path + "/" + place) }
}
