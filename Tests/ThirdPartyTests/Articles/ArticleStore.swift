import Foundation
import Larder
import Synchronization

// The store of the article "Writing a plugin".

// MARK: Store

/// A store that keeps each entry in a file. It does not interpret an entry's bytes.
final class Garage: Store {
    private let place: StorePlace
    private let world: any World
    /// Held while files change.
    private let changing = Mutex(())
    private let reads = Mutex((hits: 0, misses: 0))

    init(place: StorePlace, world: any World) {
        self.place = place
        self.world = world
    }

    func read(_ reading: Reading) async throws -> Found? {
        try await world.blocking { [self] in
            guard let bytes = try? Data(contentsOf: file(of: reading.key)),
                let entry = try Entry(encoded: Array(bytes), for: reading.key)
            else {
                reads.withLock { $0.misses += 1 }
                return nil
            }
            reads.withLock { $0.hits += 1 }
            return Found(entry, tier: "garage", isForeign: true)
        }
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await world.blocking { [self] in
            try changing.withLock { _ in
                try place.restore()
                try Data(entry.encoded(for: key)).write(to: file(of: key), options: .atomic)
            }
            return true
        }
    }

    func remove(_ selection: Selection) async throws {
        try await world.blocking { [self] in
            try changing.withLock { _ in
                // The folder may have been deleted.
                try place.restore()
                for name in try FileManager.default.contentsOfDirectory(atPath: place.path) {
                    let file = URL(filePath: place.path).appending(path: name)
                    if try isMeant(file, by: selection) { try FileManager.default.removeItem(at: file) }
                }
            }
        }
    }

    func statistics() async -> StoreStatistics {
        let sizes = try? await world.blocking { [place] in
            try FileManager.default.contentsOfDirectory(atPath: place.path).map { name in
                let file = URL(filePath: place.path).appending(path: name).path
                return try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
            }
        }
        let (hits, misses) = reads.withLock { $0 }
        return StoreStatistics(
            entries: sizes?.count ?? 0, bytes: sizes?.reduce(0, +) ?? 0, hits: hits, misses: misses)
    }

    private func isMeant(_ file: URL, by selection: Selection) throws -> Bool {
        switch selection {
        case .key(let key): file.lastPathComponent == name(of: key)
        case .scope(let scope): file.lastPathComponent.hasPrefix(prefix(of: scope))
        // The tags of a damaged entry are unknown, so the entry is removed.
        case .tag(let tag): (try? Metadata(ofEncoded: Array(Data(contentsOf: file))))?.tags.contains(tag) ?? true
        case .all: true
        }
    }

    private func file(of key: Key) -> URL { URL(filePath: place.path).appending(path: name(of: key)) }

    private func name(of key: Key) -> String { prefix(of: key.scope) + key.digest }

    private func prefix(of scope: String?) -> String { Key(resource: "scope", scope: scope).digest + "-" }
}

extension Plugin {
    static let garage = Plugin.store(
        "garage", "Keeps each entry in a file.",
        traits: {
            .with {
                $0.isForeign = true
                $0.writesTo = "garage"
            }
        }
    ) { context in Garage(place: try context.place("garage"), world: context.world) }
}

// MARK: End
