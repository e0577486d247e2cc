#if canImport(Darwin)
    import Darwin
    import Dispatch
#endif

extension World {
    /// Returns a stream of the changes in a folder, until its reader stops. Examines the folder every second.
    public func changes(in folder: String) -> AsyncStream<FolderChange> { polledChanges(in: folder) }

    fileprivate func polledChanges(in folder: String) -> AsyncStream<FolderChange> {
        .changes { stream in
            let work = spawn {
                var last = try? await blocking { FolderWatch.state(of: folder) }
                while (try? await sleep(for: .seconds(1))) != nil {
                    let state = try? await blocking { FolderWatch.state(of: folder) }
                    if state != last { stream.send(.anything) }
                    last = state
                }
            }
            stream.onTermination = { _ in work.cancel() }
        }
    }
}

extension SystemWorld {
    /// Returns a stream of the changes in a folder, until its reader stops. Uses the system's notifications where there
    /// are any.
    ///
    /// The folder may be missing at first, be deleted and made again, or be reached through links that change.
    public func changes(in folder: String) -> AsyncStream<FolderChange> {
        FolderWatch.stream(of: folder) ?? polledChanges(in: folder)
    }
}

/// The system's ways to watch a folder.
enum FolderWatch {
    /// Returns a fingerprint of a folder and its contents, or nil if the folder cannot be listed.
    static func state(of folder: String) -> String? {
        guard let own = Disk.stamp(of: folder),
            let items = try? Disk.stamps(in: folder, where: { _ in true })
        else { return nil }
        return "\(own.device)/\(own.inode)/"
            + items.map { "\($0.name)/\($0.stamp?.fingerprint ?? "-")" }.sorted().joined(separator: "/")
    }

    #if canImport(Darwin)
        /// Returns a stream of the changes that kqueue reports. Because kqueue does not report files that are written
        /// in place, nor changes on the path to the folder, both are also examined every second.
        static func stream(of folder: String) -> AsyncStream<FolderChange>? {
            let timer = DispatchSource.makeTimerSource()
            let last = Locked(state(of: folder))
            return .changes { stream in
                let events = FolderEvents { stream.send(.anything) }
                events.follow(folder)
                timer.setEventHandler {
                    events.follow(folder)
                    let state = state(of: folder)
                    if last.withLock({ swap(&$0, state) }) { stream.send(.anything) }
                }
                timer.schedule(deadline: .now() + 1, repeating: 1)
                timer.activate()
                stream.onTermination = { _ in
                    timer.cancel()
                    events.stop()
                }
            }
        }

        private static func swap(_ last: inout String?, _ state: String?) -> Bool {
            defer { last = state }
            return last != state
        }

        /// Receives the events of the folder to which a path currently leads.
        private final class FolderEvents: Sendable {
            private struct State {
                var source: (any DispatchSourceFileSystemObject)?
                var inode: UInt64?
                var isOver = false
            }

            private let state = Locked(State())
            private let onEvent: @Sendable () -> Void

            init(_ onEvent: @escaping @Sendable () -> Void) {
                self.onEvent = onEvent
            }

            /// Starts to watch the folder at a path, unless that folder is already watched.
            func follow(_ folder: String) {
                let inode = Disk.stamp(of: folder)?.inode
                state.withLock { state in
                    guard !state.isOver, state.inode != inode || state.source == nil else { return }
                    state.source?.cancel()
                    state.source = nil
                    state.inode = inode
                    let file = open(folder, O_EVTONLY | O_CLOEXEC)
                    guard file >= 0 else { return }
                    let source = DispatchSource.makeFileSystemObjectSource(
                        fileDescriptor: file, eventMask: [.write, .rename, .delete])
                    source.setEventHandler { [onEvent] in onEvent() }
                    source.setCancelHandler { close(file) }
                    source.activate()
                    state.source = source
                }
            }

            func stop() {
                state.withLock { state in
                    state.source?.cancel()
                    state.source = nil
                    state.isOver = true
                }
            }
        }
    #elseif !os(Linux)
        static func stream(of folder: String) -> AsyncStream<FolderChange>? { nil }
    #endif
}

extension FileStamp {
    fileprivate var fingerprint: String {
        "\(inode)/\(size)/\(modified)/\(changed)"
    }
}
