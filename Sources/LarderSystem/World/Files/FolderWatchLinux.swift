#if os(Linux)
    import LarderFoundation

    extension FolderWatch {
        /// Returns a stream of the changes that inotify reports, or nil if the system has no inotify left to give.
        static func stream(of folder: String) -> AsyncStream<FolderChange>? {
            let watches = FolderWatches(of: folder)
            var ends: [Int32] = [-1, -1]
            guard watches.events >= 0 else { return nil }
            guard pipe(&ends) == 0 else {
                close(watches.events)
                return nil
            }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            let (reading, writing) = (ends[0], ends[1])
            return .changes { stream in
                let thread = BlockingThreads(limit: 1)
                thread.run { listen(to: folder, through: watches, until: reading) { stream.send($0) } }
                stream.onTermination = { [thread] _ in
                    _ = thread
                    // The thread polls the other end of the pipe. Closing this end stops the thread.
                    close(writing)
                }
            }
        }

        private static func listen(
            to folder: String, through first: FolderWatches, until end: Int32, _ send: (FolderChange) -> Void
        ) {
            var watches = first
            var last = watches.isWhole ? nil : state(of: folder)
            while true {
                var waiting = [
                    pollfd(fd: watches.events, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: end, events: 0, revents: 0),
                ]
                // Where inotify cannot report everything, the folder is also examined every second.
                let count = poll(&waiting, 2, watches.isWhole ? -1 : 1_000)
                if count < 0, errno == EINTR { continue }
                if count < 0 || waiting[1].revents != 0 { break }
                var change = watches.read()
                if !watches.isWhole {
                    let state = state(of: folder)
                    if state != last { change = .anything }
                    last = state
                }
                if change == .anything {
                    // The old watches end first, because a process may have only a limited number of them.
                    watches.end()
                    watches = FolderWatches(of: folder)
                    if !watches.isWhole { last = state(of: folder) }
                }
                if change != .files([]) { send(change) }
            }
            watches.end()
            close(end)
        }
    }

    /// The watches for one folder: on the folder itself, and on the names in its path.
    private struct FolderWatches: Sendable {
        /// The descriptor from which events are read; negative if the system gave none.
        let events: Int32
        /// Whether the watches report every change.
        private(set) var isWhole = false
        /// The names in the path, by the watch of the folder that contains each.
        private var steps: [Int32: Set<String>] = [:]
        private var folder: Int32?

        /// Begins to watch. Reports every change from now on, including changes while the watches are added.
        init(of path: String) {
            events = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
            guard events >= 0 else { return }
            // The path may change before all of it is watched.
            for _ in 0..<10 {
                let trail = FolderTrail(to: path)
                isWhole = add(trail)
                if trail == FolderTrail(to: path) { return }
            }
            isWhole = false
        }

        private mutating func add(_ trail: FolderTrail) -> Bool {
            var isWhole = true
            let moves = UInt32(IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR | IN_MASK_ADD)
            // New names matter only while a name in the path is missing. Folders in the path, such as /tmp, may be
            // busy.
            let kinds = trail.end == nil ? moves | UInt32(IN_CREATE) : moves
            for step in trail.steps {
                let watch = inotify_add_watch(events, step.folder, kinds)
                if watch >= 0 { steps[watch, default: []].insert(step.name) } else { isWhole = false }
            }
            guard let end = trail.end else { return isWhole }
            let watch = inotify_add_watch(events, end, moves | UInt32(IN_CLOSE_WRITE | IN_CREATE))
            folder = watch >= 0 ? watch : nil
            return isWhole && watch >= 0
        }

        func end() {
            if events >= 0 { close(events) }
        }

        /// Reads the waiting events. Returns `.files([])` if they report no change.
        func read() -> FolderChange {
            guard events >= 0 else { return .files([]) }
            var change = FolderChange.files([])
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = systemRead(events, into: &buffer, count: buffer.count)
                guard count > 0 else { return change }
                buffer.withUnsafeBytes { change = change.and(self.change(in: $0[..<count])) }
            }
        }

        private func change(in events: Slice<UnsafeRawBufferPointer>) -> FolderChange {
            let events = UnsafeRawBufferPointer(rebasing: events)
            let head = MemoryLayout<inotify_event>.size
            var names: Set<String> = []
            var start = 0
            while start + head <= events.count {
                let event = events.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
                let bytes = events[(start + head)...].prefix(Int(event.len)).prefix { $0 != 0 }
                // An event without a name says that the event queue overflowed or that a watch ended.
                if bytes.isEmpty { return .anything }
                let name = String(decoding: bytes, as: UTF8.self)
                if steps[event.wd]?.contains(name) == true { return .anything }
                if event.wd == folder { names.insert(name) }
                start += head + Int(event.len)
            }
            return .files(names)
        }
    }
#endif
