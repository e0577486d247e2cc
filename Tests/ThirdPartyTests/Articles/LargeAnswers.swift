import Foundation
import Larder
import Synchronization

// An origin that collects a large answer in a file, and a store that adopts the file, as another package would write
// them.

// MARK: Origin

/// A service that sends films in pieces.
protocol FilmService: Sendable {
    func pieces(of film: String) -> AsyncThrowingStream<Data, any Error>
}

/// An origin that collects a film in a file.
struct Films: Loader {
    let service: any FilmService
    let context: OriginContext

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let world = context.world
        let sink = try await world.blocking { [context] in try context.payloadSink(capacity: 2_000_000_000) }
        for try await piece in service.pieces(of: call.request.parameters["id"] ?? "") {
            try await world.blocking { try sink.write(piece) }
        }
        let payload = try await world.blocking { try sink.finish() }
        return Loaded(Entry(payload, Metadata(contentType: "video/mp4")))
    }
}

extension Plugin {
    static func films(from service: any FilmService) -> Plugin {
        .origin("films", "Downloads films.") { (context: OriginContext) in Films(service: service, context: context) }
    }
}

// MARK: Store

/// A store with two files for each entry: the payload, and the rest.
struct FilmShelf: Store {
    let place: StorePlace
    let world: any World
    /// The number of hits and misses. The lock is held while files change.
    let reads: Reads

    final class Reads: Sendable {
        let counts = Mutex((hits: 0, misses: 0))
    }

    func read(_ reading: Reading) async throws -> Found? {
        try await world.blocking { try find(reading.key) }
    }

    private func find(_ key: Key) throws -> Found? {
        try reads.counts.withLock { counts in
            let path = path(of: key)
            guard let head = FileManager.default.contents(atPath: path + ".head"),
                let payload = try Payload(mapping: path + ".payload")
            else {
                counts.misses += 1
                return nil
            }
            let read = try EncodedHead(of: Array(head))
            guard read.isOf(key), read.payloadSize == payload.bytes.count else { throw StoreError.damaged }
            counts.hits += 1
            return Found(Entry(payload, read.metadata), tier: "film-shelf", isForeign: true)
        }
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await world.blocking {
            try reads.counts.withLock { _ in
                try place.restore()
                let path = path(of: key)
                let new = path + ".new"
                try? FileManager.default.removeItem(atPath: new)
                try entry.payload.makeFile(at: new)
                // A file that is replaced stays readable for those who use it.
                try? FileManager.default.removeItem(atPath: path + ".head")
                guard rename(new, path + ".payload") == 0 else { throw StoreError("cannot rename a file") }
                try Data(entry.encodedHead(for: key)).write(to: URL(filePath: path + ".head"), options: .atomic)
            }
        }
        return true
    }

    func remove(_ selection: Selection) async throws {
        try await world.blocking {
            try reads.counts.withLock { _ in
                // The folder may have been deleted.
                try place.restore()
                for name in try names() where name.hasSuffix(".head") && isMeant(name, by: selection) {
                    let path = place.path + "/" + name.dropLast(".head".count)
                    for file in [path + ".payload", path + ".head"] where FileManager.default.fileExists(atPath: file) {
                        try FileManager.default.removeItem(atPath: file)
                    }
                }
            }
        }
    }

    func statistics() async -> StoreStatistics {
        let sizes = try? await world.blocking {
            try names().map { name in
                try FileManager.default.attributesOfItem(atPath: place.path + "/" + name)[.size] as? Int ?? 0
            }
        }
        let (hits, misses) = reads.counts.withLock { $0 }
        return StoreStatistics(
            entries: (sizes?.count ?? 0) / 2, bytes: sizes?.reduce(0, +) ?? 0, hits: hits, misses: misses)
    }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: place.path) }

    private func isMeant(_ name: String, by selection: Selection) -> Bool {
        switch selection {
        case .key(let key): return name == self.name(of: key) + ".head"
        case .scope(let scope): return name.hasPrefix(prefix(of: scope))
        case .tag(let tag):
            // The tags of a damaged entry are unknown, so the entry is removed.
            let head = FileManager.default.contents(atPath: place.path + "/" + name) ?? Data()
            return (try? EncodedHead(of: Array(head)))?.metadata.tags.contains(tag) ?? true
        case .all: return true
        }
    }

    private func path(of key: Key) -> String { place.path + "/" + name(of: key) }

    private func name(of key: Key) -> String { prefix(of: key.scope) + key.digest }

    private func prefix(of scope: String?) -> String { Key(resource: "scope", scope: scope).digest + "-" }
}

extension Plugin {
    static let filmShelf = Plugin.store(
        "film-shelf", "Keeps films.",
        traits: {
            .with {
                $0.isForeign = true
                $0.writesTo = "film-shelf"
            }
        }
    ) { context in
        FilmShelf(place: try context.place("film-shelf"), world: context.world, reads: FilmShelf.Reads())
    }
}
