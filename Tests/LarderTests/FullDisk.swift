import Foundation
import Larder

/// A small disk of its own that can be filled up: a folder that `Tests/full-disk` mounts.
struct FullDisk {
    let path: String

    /// Where such disks are mounted; nil where they are not.
    static let folder = ProcessInfo.processInfo.environment["LARDER_FULL_DISK"]

    /// The disk of this name, emptied.
    init(_ name: String) throws {
        path = try (Self.folder.map { $0 + "/" + name }).unwrapped()
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.removeItem(atPath: path + "/" + name)
        }
    }

    /// Where a pantry may keep what it likes.
    var cache: URL { URL(filePath: path + "/cache") }

    private var filler: String { path + "/somebody-elses" }

    /// How much room is left, in bytes.
    var room: Int {
        get throws {
            let attributes = try FileManager.default.attributesOfFileSystem(forPath: path)
            return try (attributes[.systemFreeSize] as? NSNumber).unwrapped().intValue
        }
    }

    /// Lets somebody else use all the room there is but so much.
    func fill(leaving room: Int = 0) throws {
        free()
        try Data(count: max(0, self.room - room)).write(to: URL(filePath: filler))
    }

    /// Gives back what somebody else used.
    func free() { try? FileManager.default.removeItem(atPath: filler) }
}

extension Optional {
    /// The value; an error where there is none.
    fileprivate func unwrapped() throws -> Wrapped {
        guard let self else { throw Unexpected(description: "it is missing") }
        return self
    }
}
