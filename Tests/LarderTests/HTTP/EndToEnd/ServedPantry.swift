import LarderFoundation
import Larder
import Testing

/// A pantry with the resource `feed`, whose origin `http` asks a scripted server. Its time, threads, connections and
/// files are real.
final class ServedPantry: Sendable {
    /// The members of a policy besides its name and its origin.
    static let keeping =
        #""strategy": { "use": "cache-first", "rest": "0s" }, "validators": ["http"], "store": "memory""#

    let server: ScriptedServer
    let pantry: Pantry
    /// The folder of the stores.
    let cache: Folder

    var feed: Resource<Data> { pantry.resource("feed") }

    /// Makes a pantry above a server.
    ///
    /// - Parameters:
    ///   - url: the URL behind the server's.
    ///   - settings: the settings of the origin besides its URL.
    ///   - policy: the members of the policy besides its name and its origin.
    init(
        _ server: ScriptedServer, url: String = "/items{/id}", settings: String = "", policy: String = keeping,
        process: String = "{}", plugins: [Plugin] = [], registry: Registry = .standard,
        environment: [String: String] = [:], cache: Folder? = nil
    ) async throws {
        self.server = server
        self.cache = try cache ?? Folder()
        let cache = self.cache
        var registry = registry
        for plugin in plugins { try registry.register(plugin) }
        pantry = try await Pantry(
            policies: ["feed": Self.policy(server, url, settings, policy), "_larder": process], registry: registry,
            cache: cache.url.appending(path: "cache"), data: cache.url.appending(path: "data"),
            environment: environment)
    }

    /// Returns the text of a policy.
    static func policy(
        _ server: ScriptedServer, _ url: String = "/items{/id}", _ settings: String = "", _ policy: String = keeping
    ) -> String {
        #"""
        { "resource": "feed",
          "origin": { "use": "http", "url": "\#(server.url)\#(url)"\#(settings.isEmpty ? "" : ", " + settings) },
          \#(policy) }
        """#
    }

    /// Returns whether a file of the stores contains a text.
    func isOnDisk(_ text: String) throws -> Bool {
        try FileManager.default.subpathsOfDirectory(atPath: cache.path).contains { name in
            let bytes = try? Data(contentsOf: cache.url.appending(path: name))
            return bytes.map { String(decoding: $0, as: UTF8.self).contains(text) } == true
        }
    }
}
