import Foundation
import Larder
import Synchronization

// A store that keeps entries on a disk, and a validator with a note of its own, as another package would write them.

// MARK: Store

/// A store that keeps each entry in a file. It does not interpret an entry's bytes. Renewed metadata are in a file beside
/// it, so that the payload is not written again.
final class Cupboard: Store {
    private let place: StorePlace
    private let world: any World
    /// Held while files change.
    private let changing = Mutex(())
    private let reads = Mutex((hits: 0, misses: 0))
    /// A file that is open as long as the store.
    private let journal = Mutex<FileHandle?>(nil)

    init(place: StorePlace, world: any World) throws {
        self.place = place
        self.world = world
        let path = place.path + "/journal"
        if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(filePath: path)) }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        journal.withLock { $0 = file }
    }

    /// Whether ``close()`` was called.
    var isClosed: Bool { journal.withLock { $0 == nil } }

    func read(_ reading: Reading) async throws -> Found? {
        try await world.blocking { [self] in
            guard let bytes = try? Data(contentsOf: file(of: reading.key)),
                var entry = try Entry(encoded: Array(bytes), for: reading.key)
            else {
                if reading.needsPayload { reads.withLock { $0.misses += 1 } }
                return nil
            }
            if let renewed = renewed(file(of: reading.key), entry.metadata) { entry.metadata = renewed }
            if reading.needsPayload { reads.withLock { $0.hits += 1 } }
            return Found(entry, tier: "cupboard", isForeign: true)
        }
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await world.blocking { [self] in
            try changing.withLock { _ in
                try place.restore()
                try Data(entry.encoded(for: key)).write(to: file(of: key), options: .atomic)
                try? FileManager.default.removeItem(at: file(of: key).appendingPathExtension("head"))
            }
            return true
        }
    }

    func renew(_ entry: Entry, for key: Key) async throws -> Bool {
        try await world.blocking { [self] in
            try changing.withLock { _ in
                let file = file(of: key)
                guard let head = head(of: file), head.isOf(key), head.metadata.isOfSamePayload(as: entry.metadata)
                else { return false }
                try Data(entry.encodedHead(for: key)).write(to: file.appendingPathExtension("head"), options: .atomic)
                return true
            }
        }
    }

    func expire(_ selection: Selection) async throws {
        try await world.blocking { [self] in
            try changing.withLock { _ in
                for name in try names() {
                    let file = URL(filePath: place.path).appending(path: name)
                    guard try isMeant(file, by: selection), let head = head(of: file), let key = head.key else {
                        continue
                    }
                    var entry = Entry(Data(count: head.payloadSize), renewed(file, head.metadata) ?? head.metadata)
                    entry.metadata.isExpired = true
                    try Data(entry.encodedHead(for: key))
                        .write(to: file.appendingPathExtension("head"), options: .atomic)
                }
            }
        }
    }

    /// Lists the files in the order of their names.
    func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        try await world.blocking { [self] in
            let rest = try names().filter { $0 > cursor?.text ?? "" }
            let entries = rest.prefix(count).compactMap { name -> ListedEntry? in
                let file = URL(filePath: place.path).appending(path: name)
                guard let head = head(of: file) else { return nil }
                return ListedEntry(
                    key: head.key, digest: String(name.suffix(64)),
                    metadata: renewed(file, head.metadata) ?? head.metadata, size: head.payloadSize)
            }
            return StorePage(entries, next: rest.count > count ? StoreCursor(rest[count - 1]) : nil)
        }
    }

    func close() async { journal.withLock { $0 = nil } }

    func remove(_ selection: Selection) async throws {
        try await world.blocking { [self] in
            try changing.withLock { _ in
                // The folder may have been deleted.
                try place.restore()
                for name in try names() {
                    let file = URL(filePath: place.path).appending(path: name)
                    guard try isMeant(file, by: selection) else { continue }
                    try FileManager.default.removeItem(at: file)
                    try? FileManager.default.removeItem(at: file.appendingPathExtension("head"))
                }
            }
        }
    }

    func statistics() async -> StoreStatistics {
        let sizes = try? await world.blocking { [self] in
            try names().map { name in
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
        case .tag(let tag):
            head(of: file).map { (renewed(file, $0.metadata) ?? $0.metadata).tags.contains(tag) } ?? true
        case .all: true
        }
    }

    /// The names of the files of entries, in order.
    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.path).filter { $0.count == 129 }.sorted()
    }

    /// Reads the beginning of a file.
    private func head(of file: URL) -> EncodedHead? {
        guard let handle = try? FileHandle(forReadingFrom: file),
            let start = try? handle.read(upToCount: EncodedHead.prefixSize),
            let size = EncodedHead.size(of: Array(start)), size < 1 << 20,
            let rest = try? handle.read(upToCount: size - start.count)
        else { return nil }
        return try? EncodedHead(of: Array(start + rest))
    }

    /// Returns the metadata beside a file, if they are those of its payload.
    private func renewed(_ file: URL, _ written: Metadata) -> Metadata? {
        guard let bytes = try? Data(contentsOf: file.appendingPathExtension("head")),
            let head = try? EncodedHead(of: Array(bytes)), head.metadata.isOfSamePayload(as: written)
        else { return nil }
        return head.metadata
    }

    private func file(of key: Key) -> URL { URL(filePath: place.path).appending(path: name(of: key)) }

    private func name(of key: Key) -> String { prefix(of: key.scope) + key.digest }

    private func prefix(of scope: String?) -> String { Key(resource: "scope", scope: scope).digest + "-" }
}

extension Plugin {
    static let cupboard = Plugin.store(
        "cupboard", "Keeps each entry in a file.",
        traits: {
            .with {
                $0.isForeign = true
                $0.writesTo = "cupboard"
            }
        }
    ) { context in try Cupboard(place: context.place("cupboard"), world: context.world) }
}

// MARK: Validator

/// The quality of a picture.
enum Quality: Int {
    case preview = 1
    case full
}

extension Quality: NoteValue {
    var note: Note { rawValue.note }

    init?(_ note: Note) {
        guard let number = Int(note) else { return nil }
        self.init(rawValue: number)
    }
}

extension NoteKey where Value == Quality {
    static var quality: NoteKey { NoteKey("com.example.quality") }
}

/// A validator that notes the quality of a picture when it arrives, and never permits a preview as fresh.
struct PictureQuality: Validator {
    func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
        if arrival == .store {
            if entry.metadata[.quality] == nil { throw Refusal("its quality is not known") }
        } else {
            entry.metadata[.quality] = entry.payload.bytes.count < 100 ? .preview : .full
        }
        return .keep
    }

    func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
        if metadata[.quality] == .full { return Permissions(.all) }
        return Permissions(.all).refusing(.fresh, "a preview")
    }
}

extension Plugin {
    static let pictureQuality = Plugin.validator("picture-quality", "Lets no preview pass as fresh.") { _ in
        PictureQuality()
    }
}
