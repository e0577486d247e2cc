import Foundation
import Larder

/// A small disk that a test can fill: a folder that `Tests/full-disk` mounts.
struct FullDisk {
    let path: String

    /// The folder with the mounted disks; nil if none are mounted.
    static let folder = ProcessInfo.processInfo.environment["LARDER_FULL_DISK"]

    /// Returns the disk with this name, without its files.
    init(_ name: String) throws {
        path = try (Self.folder.map { $0 + "/" + name }).unwrapped()
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.removeItem(atPath: path + "/" + name)
        }
    }

    /// The folder for a pantry's files.
    var cache: URL { URL(filePath: path + "/cache") }

    private var filler: String { path + "/somebody-elses" }

    /// The free space in bytes.
    var room: Int {
        get throws {
            let attributes = try FileManager.default.attributesOfFileSystem(forPath: path)
            return try (attributes[.systemFreeSize] as? NSNumber).unwrapped().intValue
        }
    }

    /// Fills the disk except for `room` bytes.
    func fill(leaving room: Int = 0) throws {
        free()
        try Data(count: max(0, self.room - room)).write(to: URL(filePath: filler))
    }

    /// Frees the space that `fill` took.
    func free() { try? FileManager.default.removeItem(atPath: filler) }
}

extension Optional {
    /// Returns the value, or throws if there is none.
    fileprivate func unwrapped() throws -> Wrapped {
        guard let self else { throw Unexpected(description: "it is missing") }
        return self
    }
}
