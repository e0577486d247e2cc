public import LarderFoundation
import LarderSystem

/// Payloads whose bytes are in a file and not in memory.
///
/// ``bytes`` is then a view of the file: the system reads a part of it when it is used. The view stays valid when the
/// file is deleted or replaced, and changing a copy of the `Data` does not change the file. But if another program
/// shortens the file or writes to it, the bytes change, and reading bytes that are gone ends the process.
extension Payload {
    /// Creates a payload of a file that belongs to it from now on, such as a finished download. Blocks.
    ///
    /// A store makes the file its own without copying it, if both are on one file system. Otherwise the file is deleted
    /// when it has been saved, or when the payload is released. The file must be complete, and no program may change it
    /// any more. If the process ends before that, the file stays where it is.
    ///
    /// - Throws: ``LoadError`` if the file cannot be read or is not a regular file. Links are not followed.
    public convenience init(adopting file: URL) throws(LoadError) {
        do throws(Disk.Failure) {
            self.init(try SharedFile(file.path, isTemporary: true))
        } catch {
            throw LoadError(.failed, "the file of the payload cannot be used: \(error)", origin: error)
        }
    }

    /// Creates a payload of a file of a store, which must not change the file any more. The store can delete or replace
    /// it at any time. Blocks.
    ///
    /// - Returns: nil if there is no regular file at the path. Links are not followed.
    /// - Throws: ``StoreError`` if the file cannot be read.
    public convenience init?(mapping path: String) throws(StoreError) {
        do throws(Disk.Failure) {
            self.init(try SharedFile(path, isTemporary: false))
        } catch {
            if error.isMissing || error.isNotFile || error.isLink { return nil }
            throw StoreError(error.description)
        }
    }

    /// Whether the bytes are in a file and not in memory.
    public var isFile: Bool { file != nil }

    /// Makes a file that contains the bytes and that only its owner can read. Blocks.
    ///
    /// A payload that is in a file of the same file system is not copied: its file gets another name. So no store may
    /// write to the new file, only delete or replace it.
    ///
    /// - Parameter path: the path of the new file. There must be no file.
    /// - Throws: ``StoreError``, with ``StoreError/isFull`` if the disk is full. There is then no file.
    public func makeFile(at path: String) throws(StoreError) {
        do throws(Disk.Failure) {
            if let file { return try file.makeFile(at: path) }
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(Disk.Failure) in try Disk.create(path, with: bytes) }
            }.get()
        } catch {
            var failure = StoreError(error.description)
            failure.isFull = error.isFull
            throw failure
        }
    }

    /// Closes the file and deletes it if it has no place in a store. Called when the stores have written the payload. A
    /// store that writes it later copies it.
    func releaseFile() { file?.release() }
}

extension Data {
    /// Creates a view of a file. The file stays mapped as long as any part of the view is in use.
    init(mapped map: MappedFile) {
        guard let start = map.bytes.baseAddress else {
            self.init()
            return
        }
        self.init(
            bytesNoCopy: start, count: map.bytes.count, deallocator: .custom { _, _ in withExtendedLifetime(map) {} })
    }
}

extension Entry {
    /// Creates an entry of a payload.
    public init(_ payload: Payload, _ metadata: Metadata = Metadata()) {
        self.payload = payload
        self.metadata = metadata
    }
}
