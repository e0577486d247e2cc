import Larder
import LarderSystem

/// The files of an installation in a folder. If the folder cannot be made at first, each use tries again.
struct EditionFolder: EditionFiles {
    private let known = Locked<DataPlace?>(nil)
    private let find: @Sendable () throws -> DataPlace

    init(_ find: @escaping @Sendable () throws -> DataPlace) { self.find = find }

    private func folder() throws -> DataPlace {
        if let place = known.withLock({ $0 }) { return place }
        do {
            let place = try find()
            known.withLock { $0 = place }
            return place
        } catch {
            throw EditionError(.disk, "editions cannot be kept: \(error)")
        }
    }

    /// The path of the folder.
    ///
    /// - Throws: ``EditionError`` with the code `disk`.
    func path() throws -> String { try folder().path }

    static let draft = ".tmp"
    private static let mark = "start-"

    func read(_ name: String) throws -> [UInt8]? {
        let path = try self.path(name)
        do { return try Disk.read(path, limit: SignedFile.mostBytes + 1) } catch {
            if error.isMissing { return nil }
            // No file of ours is that large or a folder, so it counts as a damaged one.
            if error.isTooLarge || error.isNotFile { return [] }
            throw error
        }
    }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try folder().restore()
        let path = try self.path(name)
        let draft = path + "." + Disk.randomName() + Self.draft
        do {
            try bytes.withUnsafeBytes { try Disk.create(draft, with: $0) }
            try Disk.sync(draft)
            try Disk.move(draft, to: path)
        } catch {
            try? Disk.remove(draft)
            throw error
        }
        try Disk.sync(self.path())
    }

    func remove(_ name: String) { if let path = try? path(name) { try? Disk.remove(path) } }

    var names: [String] { ((try? Disk.list(path())) ?? []).map(\.name) }

    func locked<Result>(within limit: Duration, _ body: () throws -> Result) throws -> Result {
        try folder().restore()
        return try Disk.locked(path("lock"), within: limit, body)
    }

    func beginStart(of digest: String, number: Int) throws -> any StartMark {
        try HeldMark(in: path(), prefix: Self.mark + digest.suffix(64) + "-\(number)-")
    }

    func endedStarts() -> [EndedStart] {
        names.compactMap { name in
            let parts = name.split(separator: "-")
            guard name.hasPrefix(Self.mark), parts.count == 4, let number = Int(parts[2]), let path = try? path(name),
                !Disk.isHeld(path), Disk.item(path) != nil
            else { return nil }
            // A mark that ends well is removed before it is unlocked, so one that is gone now is none.
            return EndedStart(name: name, digest: "sha256:" + parts[1], number: number)
        }
    }

    private func path(_ name: String) throws -> String { try path() + "/" + name }

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
