import LarderFoundation
import Dispatch
import LarderSystem

/// A TCP server on the loopback interface that does after each request what a closure says, also what no HTTP server
/// should do:
///
///     let server = try ScriptedServer { request in .answer(200, ["ETag": "\"a\""], "Hello") }
///
/// Its threads and descriptors end with it.
final class ScriptedServer: Sendable {
    /// The family of addresses that a server uses.
    enum Family { case ipv4, ipv6 }

    /// The URL of the server, without a path.
    let url: String
    let port: UInt16
    private let listener: Listener

    /// Starts a server on a port that the system chooses.
    ///
    /// - Parameters:
    ///   - greeting: the steps on each new connection, before the first request is read.
    ///   - reply: what the server does after a request. It is called on the connection's thread.
    init(
        _ family: Family = .ipv4, greeting: [ScriptedReply.Step] = [],
        _ reply: @escaping @Sendable (ScriptedRequest) -> ScriptedReply
    ) throws {
        let (socket, port) = try Self.listen(family)
        self.port = port
        url = family == .ipv4 ? "http://127.0.0.1:\(port)" : "http://[::1]:\(port)"
        listener = Listener(socket, greeting: greeting, reply: reply)
        listener.start()
    }

    /// Starts a server whose requests get these replies in order. The last reply is repeated.
    convenience init(_ replies: ScriptedReply...) throws {
        try self.init { replies[min($0.number, replies.count) - 1] }
    }

    deinit { stop() }

    /// The requests so far.
    var requests: [ScriptedRequest] { listener.record.withLock { $0.requests } }

    /// The number of connections so far.
    var connections: Int { listener.record.withLock { $0.connections } }

    /// The number of bytes sent so far.
    var sent: Int { listener.record.withLock { $0.sent } }

    /// Ends all connections and refuses new ones. Returns when the last thread is done.
    func stop() { listener.stop() }

    private static func listen(_ family: Family) throws -> (Int32, port: UInt16) {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let listener = socket(family == .ipv4 ? AF_INET : AF_INET6, stream, 0)
        _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK)
        var port: UInt16?
        switch family {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            if bind(listener, &address) { port = UInt16(bigEndian: address.sin_port) }
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_addr = in6addr_loopback
            if bind(listener, &address) { port = UInt16(bigEndian: address.sin6_port) }
        }
        guard let port else {
            close(listener)
            throw Unexpected(description: "no server can be started on the loopback interface")
        }
        return (listener, port)
    }

    /// Binds a socket to an address, listens, and replaces the address with the socket's own.
    private static func bind<Address>(_ listener: Int32, _ address: inout Address) -> Bool {
        var length = socklen_t(MemoryLayout<Address>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                #if canImport(Darwin)
                    address.pointee.sa_len = UInt8(length)
                    let isBound = Darwin.bind(listener, address, length) == 0 && Darwin.listen(listener, 128) == 0
                #elseif canImport(Glibc)
                    let isBound = Glibc.bind(listener, address, length) == 0 && Glibc.listen(listener, 128) == 0
                #else
                    let isBound = Musl.bind(listener, address, length) == 0 && Musl.listen(listener, 128) == 0
                #endif
                return isBound && getsockname(listener, address, &length) == 0
            }
        }
    }
}

extension ScriptedServer {
    /// The part of a server that its threads share.
    fileprivate final class Listener: Sendable {
        struct Record {
            var requests: [ScriptedRequest] = []
            var connections = 0
            var sent = 0
        }

        let record = Locked(Record())
        private let socket: Int32
        private let greeting: [ScriptedReply.Step]
        private let reply: @Sendable (ScriptedRequest) -> ScriptedReply
        private let stopping = Gate()
        private let isStopped = Locked(false)
        private let threads = BlockingThreads(limit: 1_000)
        private let running = DispatchGroup()

        init(
            _ socket: Int32, greeting: [ScriptedReply.Step],
            reply: @escaping @Sendable (ScriptedRequest) -> ScriptedReply
        ) {
            (self.socket, self.greeting, self.reply) = (socket, greeting, reply)
        }

        func start() { run { $0.accept() } }

        func stop() {
            let isFirst = isStopped.withLock { isStopped in
                defer { isStopped = true }
                return !isStopped
            }
            guard isFirst else { return }
            stopping.open()
            running.wait()
            close(socket)
        }

        private func run(_ work: @escaping @Sendable (Listener) -> Void) {
            running.enter()
            threads.run {
                work(self)
                self.running.leave()
            }
        }

        private func accept() {
            while true {
                var waiting = [
                    pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: stopping.descriptor, events: Int16(POLLIN), revents: 0),
                ]
                _ = poll(&waiting, 2, -1)
                if stopping.isOpen { return }
                #if canImport(Darwin)
                    let connection = Darwin.accept(socket, nil, nil)
                #elseif canImport(Glibc)
                    let connection = Glibc.accept(socket, nil, nil)
                #else
                    let connection = Musl.accept(socket, nil, nil)
                #endif
                guard connection >= 0 else { continue }
                let number = record.withLock { record in
                    record.connections += 1
                    return record.connections
                }
                run { $0.serve(connection, number) }
            }
        }

        private func serve(_ socket: Int32, _ number: Int) {
            let connection = ScriptedConnection(socket, stopping: stopping.descriptor) { [record] count in
                record.withLock { $0.sent += count }
            }
            do { try connection.play(greeting) } catch { return }
            while var request = connection.request() {
                request.connection = number
                record.withLock { record in
                    request.number = record.requests.count + 1
                    record.requests.append(request)
                }
                let reply = reply(request)
                do {
                    try connection.play(reply.steps, toHead: request.method == "HEAD")
                } catch {
                    if error == .clientLeft { reply.clientLeft?.open() }
                    return
                }
            }
        }
    }
}
