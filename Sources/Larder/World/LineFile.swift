/// A file to which lines are added, while nobody waits for the disk.
///
/// Lines wait in memory for a thread that may block, and, while the file cannot be written, for that to change. When more
/// than a megabyte waits, further ones are lost and counted.
package final class LineFile: Sendable {
    /// Something that happened to the file.
    package enum News: Sendable, Equatable {
        /// Lines cannot be written, and wait.
        case failed(String)
        /// Lines are written again. So many were lost.
        case resumed(lost: Int)
        /// The file was moved, deleted or emptied by somebody else, and begun anew.
        case begunAnew
    }

    private struct State {
        var waiting: [UInt8] = []
        var writer: Task<Void, Never>?
        /// Lines that will never be in the file.
        var lost = 0
        /// How many of them were told.
        var told = 0
        var isFailing = false
        /// When the next line may try again.
        var rest: Duration = .zero
    }

    private static let mostWaiting = 1 << 20
    /// How long a file is left alone that could not be written, unless somebody asks.
    private static let pause = Duration.seconds(1)

    private let file: Disk.Appending
    private let world: any World
    private let tell: @Sendable (News) -> Void
    private let state = Locked(State())

    /// A file that is opened when the first line is written.
    ///
    /// - Parameters:
    ///   - most: the size beyond which the file is set aside under the name with `.1` and begun anew.
    ///   - tell: called with what happens to the file, in order, by whatever writes it.
    package init(
        _ path: String, most: Int = .max, world: any World, tell: @escaping @Sendable (News) -> Void = { _ in }
    ) {
        file = Disk.Appending(path, most: most)
        self.world = world
        self.tell = tell
    }

    /// How many lines are not in the file and will not be.
    package var lost: Int { state.withLock { $0.lost } }

    /// Whether the file could not be written when that was tried last.
    package var isFailing: Bool { state.withLock { $0.isFailing } }

    /// Opens the file. Blocks.
    ///
    /// - Throws: ``Disk/Failure`` when it cannot be opened. Lines then wait until it can.
    package func open() throws(Disk.Failure) {
        do {
            try file.prepare()
        } catch {
            state.withLock { $0.isFailing = true }
            throw error
        }
    }

    /// Adds a line. Returns at once.
    package func append(_ line: String) {
        state.withLock { state in
            guard state.waiting.count < Self.mostWaiting else {
                state.lost += 1
                return
            }
            state.waiting += line.utf8
            state.waiting.append(UInt8(ascii: "\n"))
            if state.isFailing, world.uptime < state.rest { return }
            start(&state)
        }
    }

    /// Tries to write what waits, even if that failed just before. Returns when it is written or has failed.
    package func retry() async {
        let writer = state.withLock { state in
            start(&state)
            return state.writer
        }
        await writer?.value
    }

    /// Returns when everything that was added before is written. Lines that cannot be written now are lost.
    package func flush() async {
        await retry()
        state.withLock { state in
            guard state.isFailing, state.writer == nil else { return }
            state.lost += state.waiting.lines
            state.waiting = []
        }
    }

    private func start(_ state: inout State) {
        if state.writer == nil, !state.waiting.isEmpty { state.writer = world.spawn { [self] in await write() } }
    }

    private func write() async {
        while let bytes = next() {
            do {
                let ending = try await world.blocking { [file] in try file.write(bytes) }
                if let news = wrote(ending) { tell(news) }
            } catch {
                if let news = failed(error, bytes) { tell(news) }
                return
            }
        }
    }

    /// The lines that wait; nil, and no writer any more, if none does.
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

    private func wrote(_ ending: Disk.Appending.Ending) -> News? {
        state.withLock { state in
            let lost = state.lost - state.told
            let isBack = state.isFailing || lost > 0
            state.isFailing = false
            state.told = state.lost
            return isBack ? .resumed(lost: lost) : ending == .begunAnew ? .begunAnew : nil
        }
    }

    private func failed(_ error: any Error, _ bytes: [UInt8]) -> News? {
        state.withLock { state in
            // Those that came first are kept.
            if bytes.count + state.waiting.count <= Self.mostWaiting {
                state.waiting = bytes + state.waiting
            } else {
                state.lost += state.waiting.lines
                state.waiting = bytes
            }
            let wasFailing = state.isFailing
            (state.writer, state.isFailing, state.rest) = (nil, true, world.uptime + Self.pause)
            return wasFailing ? nil : .failed((error as? Disk.Failure)?.description ?? "\(type(of: error))")
        }
    }
}

extension [UInt8] {
    /// How many lines end in it.
    fileprivate var lines: Int { count { $0 == UInt8(ascii: "\n") } }
}
