import LarderFoundation

/// A complete file whose bytes are mapped. It can be given further names, which copies nothing.
package final class SharedFile: Sendable {
    private struct State {
        /// The open file; nil if it is found by its name.
        var descriptor: Int32?
        /// A name of the file under which it can be found; nil if there is none.
        var path: String?
        /// The name that is removed at the end, because it belongs to this object.
        var temporary: String?
        /// The number of calls that use the descriptor or the names.
        var users = 0
        var isReleased = false

        /// Returns what must be closed and removed, if it is time for that.
        mutating func takeRemains() -> (descriptor: Int32?, temporary: String?) {
            guard isReleased, users == 0 else { return (nil, nil) }
            defer { (descriptor, temporary) = (nil, nil) }
            if path == temporary { path = nil }
            return (descriptor, temporary)
        }
    }

    /// The bytes.
    package let map: MappedFile
    private let identity: Identity
    private let state: Locked<State>

    /// Maps an open file. Closes it if that fails.
    ///
    /// - Parameter temporary: the name of the file, which belongs to this object; nil if it has none.
    init(taking descriptor: Int32, temporary: String?) throws(Disk.Failure) {
        do throws(Disk.Failure) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw Disk.Failure("examine the file") }
            identity = Identity(status)
            map = try MappedFile(descriptor, size: Int(clamping: status.st_size))
            state = Locked(State(descriptor: descriptor, path: temporary, temporary: temporary))
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Maps the file at a path. Follows no link.
    ///
    /// - Parameter isTemporary: whether the file belongs to this object, which then deletes it at the end.
    package init(_ path: String, isTemporary: Bool) throws(Disk.Failure) {
        let (file, status) = try Disk.openRegular(path)
        defer { close(file) }
        identity = Identity(status)
        map = try MappedFile(file, size: Int(clamping: status.st_size))
        // A file with another name may still be changed under that name, so it is copied.
        let isOwn = !isTemporary || status.st_nlink == 1
        if isTemporary, isOwn { fchmod(file, S_IRUSR | S_IWUSR) }
        state = Locked(State(path: isOwn ? path : nil, temporary: isTemporary ? path : nil))
    }

    deinit {
        release()
    }

    /// Gives the file another name, or copies it if that is not possible. There must be no file at the path. Blocks.
    ///
    /// A file with such a name is not deleted at the end.
    package func makeFile(at target: String) throws(Disk.Failure) {
        let source = state.withLock { state in
            state.users += 1
            return state
        }
        defer { finish { $0.users -= 1 } }
        if link(source, to: target) {
            let former = state.withLock { state in
                defer { (state.path, state.temporary) = (target, nil) }
                return state.temporary
            }
            if let former { remove(former) }
        } else {
            try Disk.create(target, with: UnsafeRawBufferPointer(map.bytes))
        }
    }

    /// Closes the file, and removes its temporary name. The bytes stay readable. A later ``makeFile(at:)`` copies them
    /// if the file has no other name.
    package func release() { finish { $0.isReleased = true } }

    private func finish(_ change: (inout State) -> Void) {
        let remains = state.withLock { state in
            change(&state)
            return state.takeRemains()
        }
        if let descriptor = remains.descriptor { close(descriptor) }
        if let temporary = remains.temporary { remove(temporary) }
    }

    /// Removes a name, unless another program has given it to another file.
    private func remove(_ path: String) {
        if isThere(path) { unlink(path) }
    }

    private func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && Identity(status) == identity
    }

    /// Returns whether the file has got the name.
    private func link(_ source: State, to target: String) -> Bool {
        #if os(Linux) || os(Android)
            if let descriptor = source.descriptor {
                let path = "/proc/self/fd/\(descriptor)"
                if linkat(AT_FDCWD, path, AT_FDCWD, target, AT_SYMLINK_FOLLOW) == 0 { return true }
            }
        #endif
        guard let path = source.path, linkat(AT_FDCWD, path, AT_FDCWD, target, 0) == 0 else { return false }
        if isThere(target) { return true }
        unlink(target)
        return false
    }

    /// The facts by which a file is recognized. Its size is among them, because a file that was shortened must not be
    /// used.
    private struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64
        let size: Int64

        init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            inode = UInt64(truncatingIfNeeded: status.st_ino)
            size = Int64(status.st_size)
        }
    }
}
