import LarderFoundation

/// One connection of a ``ScriptedServer``. It is used by one thread.
final class ScriptedConnection {
    /// The reason why a connection ends early.
    enum End: Error {
        case clientLeft
        case serverStopped
    }

    private let socket: Int32
    /// A descriptor that can be read from when the server stops.
    private let stopping: Int32
    private let sent: @Sendable (Int) -> Void
    private var reader = ScriptedRequestReader()
    private var isOpen = true

    /// Takes over a socket. `sent` is told the number of bytes each time some were sent.
    init(_ socket: Int32, stopping: Int32, sent: @escaping @Sendable (Int) -> Void) {
        (self.socket, self.stopping, self.sent) = (socket, stopping, sent)
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        #if canImport(Darwin)
            setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    deinit { end() }

    /// Returns the next request; nil if the connection is over or the client sent something else.
    func request() -> ScriptedRequest? {
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        do {
            while isOpen {
                if let request = try reader.next() { return request }
                _ = try wait(for: POLLIN)
                let count = recv(socket, &buffer, buffer.count, 0)
                if count == 0 { return nil }
                if count > 0 { reader.append(buffer[..<count]) } else { try check() }
            }
        } catch {}
        return nil
    }

    /// Follows the steps.
    func play(_ steps: [ScriptedReply.Step], toHead isHead: Bool = false) throws(End) {
        for step in steps where isOpen {
            switch step {
            case .bytes(let bytes): try send(bytes)
            case .body(let bytes): if !isHead { try send(bytes) }
            case .repeated(let bytes, let times, let heldBack):
                for _ in 0..<times {
                    // A client that always reads would never let the server stop.
                    _ = try wait(for: POLLOUT, atMost: 0)
                    try send(bytes, heldBack)
                }
            case .wait(let gate): try wait(until: gate.descriptor)
            case .open(let gate): gate.open()
            case .run(let action): action()
            case .silence: try wait(until: -1)
            case .reset:
                var now = linger(l_onoff: 1, l_linger: 0)
                setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
                isOpen = false
                close(socket)
            case .close: end()
            }
        }
    }

    /// Ends the connection in order.
    func end() {
        guard isOpen else { return }
        isOpen = false
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    private func send(_ bytes: Data, _ heldBack: Gate? = nil) throws(End) {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                #if canImport(Darwin)
                    Darwin.send(socket, bytes.baseAddress.map { $0 + start }, bytes.count - start, flags)
                #elseif canImport(Glibc)
                    Glibc.send(socket, bytes.baseAddress.map { $0 + start }, bytes.count - start, flags)
                #else
                    Musl.send(socket, bytes.baseAddress.map { $0 + start }, bytes.count - start, flags)
                #endif
            }
            if count > 0 {
                start += count
                sent(count)
            } else {
                try check()
                if try !wait(for: POLLOUT, atMost: heldBack == nil ? -1 : 300) {
                    heldBack?.open()
                    _ = try wait(for: POLLOUT)
                }
            }
        }
    }

    /// Waits until the socket is ready.
    ///
    /// - Returns: whether it is ready before `limit` milliseconds have passed.
    private func wait(for events: Int32, atMost limit: Int32 = -1) throws(End) -> Bool {
        while true {
            var waiting = [
                pollfd(fd: socket, events: Int16(events), revents: 0),
                pollfd(fd: stopping, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&waiting, 2, limit)
            if count < 0 {
                try check()
                continue
            }
            if waiting[1].revents != 0 { throw .serverStopped }
            return count > 0
        }
    }

    /// Waits until a descriptor can be read from, or forever if it is negative.
    private func wait(until descriptor: Int32) throws(End) {
        // Bytes that the client sends meanwhile stay in the socket, which is then ready all the time.
        var watched = Int16(POLLIN)
        while true {
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stopping, events: Int16(POLLIN), revents: 0),
                pollfd(fd: socket, events: watched, revents: 0),
            ]
            if poll(&waiting, 3, -1) < 0 {
                try check()
                continue
            }
            if waiting[0].revents != 0 { return }
            if waiting[1].revents != 0 { throw .serverStopped }
            guard waiting[2].revents != 0 else { continue }
            var byte: UInt8 = 0
            let count = recv(socket, &byte, 1, Int32(MSG_PEEK))
            if count == 0 { throw .clientLeft }
            if count > 0 { watched = 0 } else { try check() }
        }
    }

    /// Throws if the last call failed for good.
    private func check() throws(End) {
        if errno != EINTR, errno != EAGAIN, errno != EWOULDBLOCK { throw .clientLeft }
    }
}
