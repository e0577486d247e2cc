import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Policies, and what is wrong with them.
enum Policies {
    static let sound = """
        {
          "resource": "feed",
          "origin": { "use": "constant", "value": 1 },
          "strategy": "cache-first",
          "store": "file"
        }
        """

    /// Returns the problems of a folder of these files, a line each, without the folder's path. Checks that nothing was
    /// made in the cache.
    static func problems(
        _ files: [String: Data], registry: Registry = .standard, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let folder = try Folder()
        let cache = folder.url.appending(path: "cache")
        for (name, bytes) in files { try bytes.write(to: folder.url.appending(path: name)) }
        let error = #expect(throws: PolicyError.self, sourceLocation: sourceLocation) {
            try SimulatedWorld().run { world in
                _ = try await Pantry(policies: folder.url, registry: registry, cache: cache, world: world)
            }
        }
        #expect(!FileManager.default.fileExists(atPath: cache.path), sourceLocation: sourceLocation)
        let text = error?.description.replacing(folder.url.path + "/", with: "") ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// Returns the problems of a policy of the resource `feed`.
    static func problems(
        feed text: String, registry: Registry = .standard, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let error = #expect(throws: PolicyError.self, sourceLocation: sourceLocation) {
            try SimulatedPantry.run(["feed": text], registry: registry) { _ in }
        }
        return (error?.description ?? "").split(separator: "\n").map(String.init)
    }

    /// The warnings of the pantry of a sound policy of the resource `feed`.
    static func warnings(feed text: String) throws -> [String] {
        try SimulatedPantry.run(["feed": text]) { $0.pantry.warnings.map(\.description) }
    }
}

extension String {
    /// The same text with the first occurrence of `old`, which must be there, replaced.
    func with(_ old: String, _ new: String) -> String {
        #expect(contains(old))
        return replacing(old, with: new, maxReplacements: 1)
    }
}
