import Larder
import LarderSystem

/// The files of an installation in a folder.
struct EditionFolder: EditionFiles {
    let place: DataPlace

    static let draft = ".tmp"
    private static let mark = "start-"

    func read(_ name: String) throws -> [UInt8]? {
        do { return try Disk.read(path(name), limit: SignedFile.mostBytes + 1) } catch {
            if error.isMissing { return nil }
            // No file of ours is that large or a folder, so it counts as a damaged one.
            if error.isTooLarge || error.isNotFile { return [] }
            throw error
        }
    }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try place.restore()
        let draft = path(name) + "." + Disk.randomName() + Self.draft
        do {
            try bytes.withUnsafeBytes { try Disk.create(draft, with: $0) }
            try Disk.sync(draft)
            try Disk.move(draft, to: path(name))
        } catch {
            try? Disk.remove(draft)
            throw error
        }
        try Disk.sync(place.path)
    }

    func remove(_ name: String) { try? Disk.remove(path(name)) }

    var names: [String] { ((try? Disk.list(place.path)) ?? []).map(\.name) }

    func locked<Result>(within limit: Duration, _ body: () throws -> Result) throws -> Result {
        try place.restore()
        return try Disk.locked(path("lock"), within: limit, body)
    }

    func beginStart(of digest: String) throws -> any StartMark {
        try HeldMark(in: place.path, prefix: Self.mark + digest.suffix(64) + "-")
    }

    func endedStarts() -> [(name: String, digest: String)] {
        names.filter { $0.hasPrefix(Self.mark) && !Disk.isHeld(path($0)) }.map { name in
            (name, "sha256:" + name.dropFirst(Self.mark.count).prefix(64))
        }
    }

    private func path(_ name: String) -> String { place.path + "/" + name }

    /// A file that stays locked as long as the process lives. A pantry that ends as it should removes it, so it stays only
    /// after a crash.
    private final class HeldMark: StartMark {
        private let file: Disk.HeldFile
        private let path: String

        init(in folder: String, prefix: String) throws {
            file = try Disk.HeldFile(in: folder, prefix: prefix)
            path = folder + "/" + file.name
        }

        deinit { end() }

        func end() { try? Disk.remove(path) }
    }
}
