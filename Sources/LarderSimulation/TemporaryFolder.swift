public import LarderFoundation
import LarderSystem

/// A new folder that is deleted when the last reference to this object is released.
public final class TemporaryFolder: Sendable {
    /// The path.
    public let path: String

    /// The folder as a URL.
    public var url: URL { URL(filePath: path) }

    /// Creates a folder with a unique name.
    ///
    /// - Throws: A description of the system's error.
    public convenience init() throws { try self.init(below: FileManager.default.temporaryDirectory.path) }

    private init(below outer: String) throws {
        path = outer + "/larder-\(UUID().uuidString)"
        try Disk.makeFolder(path)
    }

    /// Creates a folder inside another.
    init(_ name: String, in outer: TemporaryFolder) throws {
        path = outer.path + "/" + name
        try Disk.makeFolder(path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Deletes the folder with everything in it, if it is there.
    func delete() throws {
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    }

    /// Writes a file and creates the folders in its name.
    ///
    /// - Throws: A description of the system's error.
    public func write(_ text: String, to name: String) throws {
        let path = path + "/" + name
        if let slash = path.lastIndex(of: "/") { try Disk.makeFolder(String(path[..<slash])) }
        try Disk.replace(path, with: [Array(text.utf8)])
    }

    /// Returns the text of a file.
    ///
    /// - Throws: an error if the file cannot be read.
    public func text(of name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path + "/" + name)), as: UTF8.self)
    }
}

extension TemporaryFolder {
    /// Creates a folder in memory if the system has such a place, so that nothing waits for a disk.
    package static func inMemory() throws -> TemporaryFolder {
        let memory = "/dev/shm"
        return Disk.item(memory)?.isFolder == true ? try TemporaryFolder(below: memory) : try TemporaryFolder()
    }
}
