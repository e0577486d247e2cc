import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// Policies read from a folder of their own.
enum Policies {
    static let sound = """
        {
          "resource": "feed",
          "origin": { "use": "constant", "value": 1 },
          "strategy": "cache-first",
          "store": "file"
        }
        """

    /// What is wrong with a folder of these files, a line each, without the folder's path. Nothing may have been made
    /// in the cache then.
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

    /// What is wrong with a policy of the resource `feed`.
    static func problems(
        feed text: String, registry: Registry = .standard, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        try problems(["feed.json": Data(text.utf8)], registry: registry, sourceLocation: sourceLocation)
    }

    /// The pantry of a sound policy of the resource `feed`, and what it warns of, without the folder's path.
    static func warnings(feed text: String) throws -> [String] {
        let folder = try Folder()
        try folder.write(text, to: "feed.json")
        return try SimulatedWorld().run { world in
            let cache = folder.url.appending(path: "cache")
            let pantry = try await Pantry(policies: folder.url, cache: cache, world: world)
            return pantry.warnings.map { $0.description.replacing(folder.url.path + "/", with: "") }
        }
    }
}

extension String {
    /// The same text with the first occurrence of `old`, which must be there, replaced.
    func with(_ old: String, _ new: String) -> String {
        #expect(contains(old))
        return replacing(old, with: new, maxReplacements: 1)
    }
}
