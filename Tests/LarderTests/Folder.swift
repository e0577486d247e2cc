import LarderFoundation

/// A new folder that is deleted with the last reference to it.
final class Folder: Sendable {
    let url: URL

    var path: String { url.path }

    /// - Parameter inMemory: whether the folder is in a file system in memory, if there is one. Tests that write thousands of
    ///   files are much faster there.
    init(inMemory: Bool = false) throws {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let isThere = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
        let parent = isThere ? memory : FileManager.default.temporaryDirectory
        url = parent.appending(path: "larder-\(UUID().uuidString)")
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
