#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
#if canImport(SwiftOverlayShims)
    // Where `stat` comes from once another module has imported it.
    import SwiftOverlayShims
#endif

extension Disk {
    /// A file to which bytes are added at its end. It is made, for its owner alone, if need be.
    ///
    /// Other programs may move, delete or empty the file meanwhile, as those that rotate logs do. It is then begun anew
    /// under its own name, and its folder with it.
    package final class Appending: Sendable {
        /// Where bytes were added.
        package enum Ending: Sendable {
            /// To the file that was written before.
            case appended
            /// To a new file: the former was moved, deleted or emptied by somebody else.
            case begunAnew
        }

        private struct Open {
            var file: Int32
            var size: Int
        }

        private let path: String
        private let most: Int
        private let state = Exclusive<Open?>(nil)

        /// A file that is opened when it is first written.
        ///
        /// - Parameter most: the size beyond which the file is set aside under the name with `.1` and begun anew.
        package init(_ path: String, most: Int = .max) {
            self.path = path
            self.most = most
        }

        deinit {
            if let open = state.withLock({ $0 }) { close(open.file) }
        }

        /// Opens the file now, in a folder that must be there.
        package func prepare() throws(Failure) {
            try state.withLock { (state) throws(Failure) in
                if state == nil { state = try Self.opened(path) }
            }
        }

        /// Adds bytes that end a line. Blocks, and all other writers wait meanwhile.
        package func write(_ bytes: [UInt8]) throws(Failure) -> Ending {
            try state.withLock { (state) throws(Failure) in
                let wasOpen = state != nil
                var open = try reopened(state)
                let isAnew = wasOpen && (open.file != state?.file || open.size < state?.size ?? 0)
                state = open
                if open.size > 0, open.size + bytes.count > most {
                    try Disk.move(path, to: path + ".1")
                    let next = try Self.opened(path)
                    close(open.file)
                    open = next
                    state = open
                }
                do throws(Failure) {
                    try Disk.write(bytes, to: open.file)
                } catch {
                    // Half a line would spoil the next one.
                    _ = ftruncate(open.file, off_t(open.size))
                    throw error
                }
                state?.size += bytes.count
                return isAnew ? .begunAnew : .appended
            }
        }

        /// The file that bears the name, and how large it is: the one that is open, if it still does.
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
            let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o600)
            guard file >= 0 else { throw Failure("open the file") }
            let size = Disk.item(path)?.size ?? 0
            // What comes next begins a line, even if the last one was cut off.
            if size > 0, (try? Disk.read(path, from: size - 1)) != UInt8(ascii: "\n") {
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
