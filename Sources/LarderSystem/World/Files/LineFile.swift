/// A file to which lines are added without waiting for the disk.
///
/// Lines wait in memory until a thread that may block writes them. While the file cannot be written, they keep waiting.
/// When more than 1 MB waits, further lines are lost and counted.
package final class LineFile: Sendable {
    /// An event of the file.
    package enum Event: Sendable, Equatable {
        /// Lines cannot be written for this reason. They wait.
        case failed(String)
        /// Lines are written again. `lost` lines were lost meanwhile.
        case resumed(lost: Int)
        /// Another program moved, deleted or emptied the file, and a new file was begun.
        case begunAnew
    }

    private struct State {
        var waiting: [UInt8] = []
        var writer: Task<Void, Never>?
        /// The number of lines that will never be in the file.
        var lost = 0
        /// The number of lost lines that were reported.
        var reported = 0
        var isFailing = false
        /// The uptime from which the next line may try again.
        var nextTry: Duration = .zero
    }

    private static let mostWaiting = 1 << 20
    /// The time without a try after a write failed. ``retry()`` does not wait for it.
    private static let pause = Duration.seconds(1)

    private let file: Disk.Appending
    private let path: String
    private let world: any World
    private let onEvent: @Sendable (Event) -> Void
    private let state = Locked(State())

    /// Makes a file that is opened when the first line is written.
    ///
    /// - Parameters:
    ///   - capacity: the size in bytes beyond which the file is renamed to its name with `.1` and a new file is begun.
    ///   - onEvent: called with each event of the file, in order, by the task that writes the file.
    package init(
        _ path: String, capacity: Int = .max, world: any World, onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.path = path
        file = Disk.Appending(path, capacity: capacity)
        self.world = world
        self.onEvent = onEvent
    }

    /// The number of lines that are not in the file and never will be.
    package var lost: Int { state.withLock { $0.lost } }

    /// Opens the file. Blocks.
    ///
    /// - Throws: ``Disk/Failure`` if the file cannot be opened. Lines then wait until it can be.
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
            if state.isFailing, world.uptime < state.nextTry { return }
            start(&state)
        }
    }

    /// Tries to write the waiting lines, even if a write has just failed. Returns when the lines are written or the
    /// write has failed.
    package func retry() async {
        let writer = state.withLock { state in
            start(&state)
            return state.writer
        }
        await writer?.value
    }

    /// Returns when all lines that were added before are written. Lines that cannot be written now are lost.
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
                let ending = try await world.blocking(on: path) { [file] in try file.write(bytes) }
                if let event = wrote(ending) { onEvent(event) }
            } catch {
                if let event = failed(error, bytes) { onEvent(event) }
                return
            }
        }
    }

    /// Takes the waiting lines. If there are none, returns nil and ends the writer.
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

    private func wrote(_ ending: Disk.Appending.Ending) -> Event? {
        state.withLock { state in
            let lost = state.lost - state.reported
            let isBack = state.isFailing || lost > 0
            state.isFailing = false
            state.reported = state.lost
            return isBack ? .resumed(lost: lost) : ending == .begunAnew ? .begunAnew : nil
        }
    }

    private func failed(_ error: any Error, _ bytes: [UInt8]) -> Event? {
        state.withLock { state in
            // The oldest lines are kept.
            if bytes.count + state.waiting.count <= Self.mostWaiting {
                state.waiting = bytes + state.waiting
            } else {
                state.lost += state.waiting.lines
                state.waiting = bytes
            }
            let wasFailing = state.isFailing
            (state.writer, state.isFailing, state.nextTry) = (nil, true, world.uptime + Self.pause)
            return wasFailing ? nil : .failed((error as? Disk.Failure)?.description ?? "\(type(of: error))")
        }
    }
}

extension [UInt8] {
    /// The number of line ends.
    fileprivate var lines: Int { count { $0 == UInt8(ascii: "\n") } }
}
