#if os(Linux)
    import LarderFoundation

    /// A socket through which Linux tells about its interfaces and routes (rtnetlink).
    package struct RouteSocket: ~Copyable {
        private let descriptor: Int32

        /// Opens a socket, or returns nil if the system does not allow it.
        ///
        /// - Parameter hearsChanges: whether the system sends a message through the socket after each change.
        package init?(hearsChanges: Bool) {
            #if canImport(Glibc)
                let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            #else
                let kind = SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK
            #endif
            let descriptor = socket(AF_NETLINK, kind, 0)
            guard descriptor >= 0 else { return nil }
            // Changes of interfaces, and of addresses and routes of IPv4 and IPv6. Some routes go without a message when
            // their address does.
            let groups: UInt32 = hearsChanges ? 0x1 | 0x10 | 0x40 | 0x100 | 0x400 : 0
            let status = withUnsafeBytes(of: Address(family: UInt16(AF_NETLINK), groups: groups)) { address in
                bind(descriptor, address.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
            }
            guard status == 0 else {
                close(descriptor)
                return nil
            }
            self.descriptor = descriptor
        }

        deinit { close(descriptor) }

        /// Waits for a message about a change, for at most `limit` milliseconds; -1 for ever.
        ///
        /// - Returns: false if the socket is broken.
        package func waitForChange(limit: Int32) -> Bool { wait(limit) != nil }

        /// Waits, whatever arrives. A signal may end the wait early.
        package static func pause(_ time: Duration) {
            let milliseconds = time.components.seconds * 1_000 + time.components.attoseconds / 1_000_000_000_000_000
            _ = poll(nil, 0, Int32(clamping: milliseconds))
        }

        /// Throws away the messages that have arrived.
        ///
        /// - Returns: false if the socket is broken.
        package func skipMessages() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                guard receive(&buffer) == nil else { continue }
                switch errno {
                // After too many messages for its buffer, the system drops some and says so once.
                case EINTR, ENOBUFS: continue
                case EAGAIN: return true
                default: return false
                }
            }
        }

        /// Asks the system for all interfaces and routes. Waits at most `limit` milliseconds for each part of the answer.
        ///
        /// - Returns: nil if the system does not answer or refuses to.
        package static func table(limit: Int32) -> RoutingTable? {
            var last: RoutingTable?
            // An answer during which something changed may be wrong. When there is no end of changes, the last one has to
            // do: the next change is heard.
            for _ in 0..<3 {
                var table = RoutingTable()
                let (interfaces, routes): (UInt16, UInt16) = (18, 26)  // RTM_GETLINK, RTM_GETROUTE
                guard ask(for: interfaces, bodySize: 16, into: &table, limit: limit),
                    ask(for: routes, bodySize: 12, into: &table, limit: limit)
                else { return nil }
                if table.isConsistent { return table }
                last = table
            }
            return last
        }

        /// Asks for everything of a kind. Returns whether the answer arrived whole.
        private static func ask(for kind: UInt16, bodySize: Int, into table: inout RoutingTable, limit: Int32) -> Bool {
            guard let socket = RouteSocket(hearsChanges: false) else { return false }
            let head: [UInt16] = [kind, 0x301]  // NLM_F_REQUEST | NLM_F_DUMP
            var request = withUnsafeBytes(of: UInt32(16 + bodySize)) { Array($0) }
            request += head.withUnsafeBytes { Array($0) }
            request += [UInt8](repeating: 0, count: 8 + bodySize)
            let sent = Disk.uninterrupted { request.withUnsafeBytes { send(socket.descriptor, $0) } }
            return sent == request.count && socket.receiveAnswer(into: &table, limit: limit)
        }

        private static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
            #if canImport(Glibc)
                Glibc.send(descriptor, bytes.baseAddress, bytes.count, 0)
            #else
                Musl.send(descriptor, bytes.baseAddress, bytes.count, 0)
            #endif
        }

        /// Receives an answer. Returns false if it does not arrive whole.
        private func receiveAnswer(into table: inout RoutingTable, limit: Int32) -> Bool {
            // The system's messages are at most 32 KB long.
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                guard let count = receive(&buffer) else {
                    guard errno == EINTR || errno == EAGAIN && wait(limit) == true else { return false }
                    continue
                }
                guard count <= buffer.count else { return false }
                switch table.add(buffer[..<count]) {
                case .more: continue
                case .complete: return true
                case .failed: return false
                }
            }
        }

        /// Receives messages without waiting. Returns nil, with a reason in `errno`, if there are none.
        private func receive(_ buffer: inout [UInt8]) -> Int? {
            var sender = Address(family: 0, groups: 0)
            var size = socklen_t(MemoryLayout<Address>.size)
            let count = withUnsafeMutableBytes(of: &sender) { sender in
                buffer.withUnsafeMutableBytes { bytes in
                    recvfrom(
                        descriptor, bytes.baseAddress, bytes.count, Int32(0x20),  // MSG_TRUNC: tells the whole length
                        sender.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
                }
            }
            guard count >= 0 else { return nil }
            // Messages of others than the kernel, whose number is 0, are ignored.
            return sender.port == 0 ? count : 0
        }

        /// Waits until there is something to receive.
        ///
        /// - Returns: whether there is, or nil if the socket is broken.
        private func wait(_ limit: Int32) -> Bool? {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = Disk.uninterrupted { Int(poll(&waiting, 1, limit)) }
            return count < 0 || waiting.revents & Int16(POLLNVAL) != 0 ? nil : count > 0
        }

        /// The address of a netlink socket (`sockaddr_nl`).
        private struct Address {
            var family: UInt16
            var padding: UInt16 = 0
            /// The number of a process's socket; 0 for the kernel.
            var port: UInt32 = 0
            var groups: UInt32
        }
    }
#endif
