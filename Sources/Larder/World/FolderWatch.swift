#if canImport(Darwin)
    import Darwin
    import Dispatch
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension World {
    /// Tells whenever something in a folder may have changed, until nobody listens any more. Looks every second.
    public func changes(in folder: String) -> AsyncStream<FolderChange> {
        .changes { stream in
            let work = spawn {
                var last = try? await blocking { FolderWatch.state(of: folder) }
                while (try? await sleep(for: .seconds(1))) != nil {
                    let state = try? await blocking { FolderWatch.state(of: folder) }
                    if state != last { stream.tell(.anything) }
                    last = state
                }
            }
            stream.onTermination = { _ in work.cancel() }
        }
    }
}

extension SystemWorld {
    /// Tells whenever something in a folder has changed, until nobody listens any more: the system says so where it can.
    public func changes(in folder: String) -> AsyncStream<FolderChange> {
        FolderWatch.stream(of: folder) ?? polled(folder)
    }

    private func polled(_ folder: String) -> AsyncStream<FolderChange> {
        (Polling(world: self)).changes(in: folder)
    }

    /// A world that has no other way to watch a folder than to look.
    private struct Polling: World {
        let world: SystemWorld
        var now: Timestamp { world.now }
        var uptime: Duration { world.uptime }
        func random() -> UInt64 { world.random() }
        func sleep(for duration: Duration) async throws { try await world.sleep(for: duration) }
        func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { world.spawn(work) }
        func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await world.blocking(work)
        }
    }
}

/// What the system has for watching a folder.
enum FolderWatch {
    /// A fingerprint of what lies in a folder; nil when it cannot be listed.
    static func state(of folder: String) -> String? {
        guard let items = try? Disk.list(folder) else { return nil }
        return items.map { "\($0.name)/\($0.size)/\($0.modified.nanoseconds)" }.sorted().joined(separator: "/")
    }

    #if os(Linux)
        /// Changes as inotify tells them; nil when the system has none to give.
        static func stream(of folder: String) -> AsyncStream<FolderChange>? {
            let events = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
            guard events >= 0 else { return nil }
            let kinds = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE
            var ends: [Int32] = [-1, -1]
            guard inotify_add_watch(events, folder, UInt32(kinds)) >= 0, pipe(&ends) == 0 else {
                close(events)
                return nil
            }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            let (reading, writing) = (ends[0], ends[1])
            return .changes { stream in
                let thread = BlockingThreads(limit: 1)
                thread.run { listen(to: events, until: reading) { stream.tell($0) } }
                stream.onTermination = { [thread] _ in
                    _ = thread
                    // The other end hears that this one is closed, and ends.
                    close(writing)
                }
            }
        }

        private static func listen(to events: Int32, until end: Int32, _ tell: (FolderChange) -> Void) {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                var waiting = [
                    pollfd(fd: events, events: Int16(POLLIN), revents: 0), pollfd(fd: end, events: 0, revents: 0),
                ]
                let count = poll(&waiting, 2, -1)
                if count < 0, errno == EINTR { continue }
                if count < 0 || waiting[1].revents != 0 { break }
                var change = FolderChange.files([])
                while case let count = read(events, &buffer, buffer.count), count > 0 {
                    change = change.and(
                        buffer.withUnsafeBytes { Self.change(in: UnsafeRawBufferPointer(rebasing: $0[..<count])) })
                }
                tell(change)
            }
            close(events)
            close(end)
        }

        /// What a few events of inotify tell.
        private static func change(in events: UnsafeRawBufferPointer) -> FolderChange {
            let head = MemoryLayout<inotify_event>.size
            var names: Set<String> = []
            var start = 0
            while start + head <= events.count {
                let event = events.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
                let name = events[(start + head)...].prefix(Int(event.len)).prefix { $0 != 0 }
                // Too many to be told, or about the folder itself.
                if name.isEmpty { return .anything }
                names.insert(String(decoding: name, as: UTF8.self))
                start += head + Int(event.len)
            }
            return .files(names)
        }
    #elseif canImport(Darwin)
        /// Changes to the folder as kqueue tells them. It is silent about files that are written in place, so the folder
        /// is looked at too.
        static func stream(of folder: String) -> AsyncStream<FolderChange>? {
            let file = open(folder, O_EVTONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            // Dispatch sources may be cancelled from any thread.
            nonisolated(unsafe) let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: file, eventMask: [.write, .rename])
            nonisolated(unsafe) let timer = DispatchSource.makeTimerSource()
            let last = Locked(state(of: folder))
            return .changes { stream in
                source.setEventHandler { stream.tell(.anything) }
                source.setCancelHandler { close(file) }
                timer.setEventHandler {
                    let state = state(of: folder)
                    if last.withLock({ swap(&$0, state) }) { stream.tell(.anything) }
                }
                timer.schedule(deadline: .now() + 1, repeating: 1)
                source.activate()
                timer.activate()
                stream.onTermination = { _ in
                    source.cancel()
                    timer.cancel()
                }
            }
        }

        private static func swap(_ last: inout String?, _ state: String?) -> Bool {
            defer { last = state }
            return last != state
        }
    #else
        static func stream(of folder: String) -> AsyncStream<FolderChange>? { nil }
    #endif
}
