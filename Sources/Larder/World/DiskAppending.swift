#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension Disk {
    /// A file to which bytes are added at its end. It is made, for its owner alone, if need be.
    package final class Appending: Sendable {
        private struct State {
            var file: Int32
            var size: Int
        }

        private let path: String
        private let most: Int
        private let state: Exclusive<State>

        /// - Parameter most: the size beyond which the file is set aside under the name with `.1` and begun anew.
        package init(_ path: String, most: Int = .max) throws(Failure) {
            self.path = path
            self.most = most
            state = Exclusive(try Self.opened(path))
        }

        deinit { close(state.withLock { $0.file }) }

        private static func opened(_ path: String) throws(Failure) -> State {
            let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o600)
            guard file >= 0 else { throw Failure("open the file") }
            let size = Disk.item(path)?.size ?? 0
            // What comes next begins a line, even if the last one was cut off.
            if size > 0, (try? Disk.read(path, from: size - 1)) != UInt8(ascii: "\n") {
                do throws(Failure) { try Disk.write([UInt8(ascii: "\n")], to: file) } catch {
                    close(file)
                    throw error
                }
            }
            return State(file: file, size: size)
        }

        /// Adds bytes that end a line. Blocks, and whoever else writes meanwhile waits.
        package func write(_ bytes: [UInt8]) throws(Failure) {
            try state.withLock { (state) throws(Failure) in
                // Somebody else may set it aside too.
                let isGone = Disk.item(path) == nil
                if isGone || state.size > 0 && state.size + bytes.count > most {
                    if !isGone { try Disk.move(path, to: path + ".1") }
                    let next = try Self.opened(path)
                    close(state.file)
                    state = next
                }
                do throws(Failure) {
                    try Disk.write(bytes, to: state.file)
                    state.size += bytes.count
                } catch {
                    // Half a line would spoil the next one.
                    _ = ftruncate(state.file, off_t(state.size))
                    throw error
                }
            }
        }
    }
}
