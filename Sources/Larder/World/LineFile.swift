/// A file to which lines are added, while nobody waits for the disk.
///
/// Lines wait in memory for a thread that may block; when more than a megabyte waits, further ones are lost and counted.
package final class LineFile: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var writer: Task<Void, Never>?
        var lost = 0
    }

    private static let mostWaiting = 1 << 20

    private let file: Disk.Appending
    private let world: any World
    private let state = Locked(State())

    /// - Parameter most: the size beyond which the file is set aside under the name with `.1` and begun anew.
    /// - Throws: ``Disk/Failure`` when the file cannot be opened.
    package init(_ path: String, most: Int = .max, world: any World) throws(Disk.Failure) {
        file = try Disk.Appending(path, most: most)
        self.world = world
    }

    /// How many lines are not in the file and will not be.
    package var lost: Int { state.withLock { $0.lost } }

    /// Adds a line. Returns at once.
    package func append(_ line: String) {
        state.withLock { state in
            guard state.waiting.count < Self.mostWaiting else {
                state.lost += 1
                return
            }
            state.waiting += line.utf8
            state.waiting.append(UInt8(ascii: "\n"))
            if state.writer == nil { state.writer = world.spawn { [self] in await write() } }
        }
    }

    /// Returns when everything that was added before is written.
    package func flush() async {
        await state.withLock { $0.writer }?.value
    }

    private func write() async {
        while let bytes = next() {
            let isWritten = (try? await world.blocking { [file] in try file.write(bytes) }) != nil
            if !isWritten { state.withLock { $0.lost += bytes.count { $0 == UInt8(ascii: "\n") } } }
        }
    }

    /// What waits; nil, and no writer any more, if nothing does.
    private func next() -> [UInt8]? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.writer = nil
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
