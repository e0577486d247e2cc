import LarderFoundation

extension Disk {
    /// A file to which bytes are added at the end. The file is made if it is missing, and only its owner has access.
    ///
    /// Other programs, such as those that rotate logs, may move, delete or empty the file meanwhile. A new file is then
    /// begun under the same name, in a new folder if the folder is missing too.
    package final class Appending: Sendable {
        /// The file to which bytes were added.
        package enum Ending: Sendable {
            /// The file that was written before.
            case appended
            /// A new file, because another program moved, deleted or emptied the former one.
            case begunAnew
        }

        private struct Open {
            var file: Int32
            var size: Int
        }

        private let path: String
        private let capacity: Int
        private let state = BlockingLock<Open?>(nil)

        /// Makes a file that is opened when it is first written.
        ///
        /// - Parameter capacity: the size in bytes beyond which the file is renamed to its name with `.1` and a new
        ///   file is begun.
        package init(_ path: String, capacity: Int = .max) {
            self.path = path
            self.capacity = capacity
        }

        deinit {
            if let open = state.withLock({ $0 }) { close(open.file) }
        }

        /// Opens the file now. Its folder must exist.
        package func prepare() throws(Failure) {
            try state.withLock { (state) throws(Failure) in
                if state == nil { state = try Self.opened(path) }
            }
        }

        /// Adds bytes that end with a line end. Blocks. Other writers wait meanwhile.
        package func write(_ bytes: [UInt8]) throws(Failure) -> Ending {
            try state.withLock { (state) throws(Failure) in
                let wasOpen = state != nil
                var open = try reopened(state)
                let isAnew = wasOpen && (open.file != state?.file || open.size < state?.size ?? 0)
                state = open
                if open.size > 0, open.size + bytes.count > capacity {
                    try Disk.move(path, to: path + ".1")
                    let next = try Self.opened(path)
                    close(open.file)
                    open = next
                    state = open
                }
                do throws(Failure) {
                    try Disk.write(bytes, to: open.file)
                } catch {
                    // An incomplete line would damage the next one.
                    _ = ftruncate(open.file, off_t(open.size))
                    throw error
                }
                state?.size += bytes.count
                return isAnew ? .begunAnew : .appended
            }
        }

        /// Returns the file with the name, and its size. That is the open file, unless another one has the name now.
        private func reopened(_ open: Open?) throws(Failure) -> Open {
            if var open {
                var (own, named) = (stat(), stat())
                if fstat(open.file, &own) == 0, stat(path, &named) == 0, own.st_dev == named.st_dev,
                    own.st_ino == named.st_ino
                {
                    open.size = Int(clamping: own.st_size)
                    return open
                }
            }
            if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
                try Disk.makeFolder(String(path[..<slash]))
            }
            let next = try Self.opened(path)
            if let open { close(open.file) }
            return next
        }

        private static func opened(_ path: String) throws(Failure) -> Open {
            let file = try Disk.opened(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK)
            let size = Disk.item(path)?.size ?? 0
            // If the last line is incomplete, a line end is added, so that the next bytes begin a new line.
            if size > 0, (try? Disk.part(of: path, from: size - 1, most: 1))?.bytes != [UInt8(ascii: "\n")] {
                do throws(Failure) { try Disk.write([UInt8(ascii: "\n")], to: file) } catch {
                    close(file)
                    throw error
                }
                return Open(file: file, size: size + 1)
            }
            return Open(file: file, size: size)
        }
    }
}
