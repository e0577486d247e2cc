import Larder
import LarderFoundation
#if canImport(Glibc) || canImport(Musl)
    import LarderSystem
    import Synchronization

    /// A server on the loopback interface that answers each request with its path and 1,000 more bytes, and a batch of changes
    /// with as many results.
    ///
    /// `@unchecked Sendable`: nothing is changed but the counter, which is atomic.
    final class EchoServer: @unchecked Sendable {
        /// The path of the number of requests so far, which is no request itself.
        static let countPath = "/requests"

        let port: UInt16
        private let listener: Int32
        private let served = Atomic(0)
        private let filling = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000)

        /// Starts a server with a thread for each connection. It ends with the process. Returns nil if it cannot start.
        init?() {
            #if canImport(Glibc)
                let kind = Int32(SOCK_STREAM.rawValue)
            #else
                let kind = SOCK_STREAM
            #endif
            listener = socket(AF_INET, kind, 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isListening = withUnsafeMutablePointer(to: &address) { [listener] pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(listener, address, length) == 0 && listen(listener, 1_024) == 0
                        && getsockname(listener, address, &length) == 0
                }
            }
            port = UInt16(bigEndian: address.sin_port)
            guard isListening, SystemThread.start({ self.accept() }) else { return nil }
        }

        private func accept() {
            while true {
                let connection = system_accept(listener)
                guard connection >= 0 else { return }
                var one: Int32 = 1
                setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
                guard SystemThread.start({ self.serve(connection) }) else { return }
            }
        }

        private func serve(_ connection: Int32) {
            defer { close(connection) }
            var waiting: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = recv(connection, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                waiting += buffer[..<count]
                while let end = Self.endOfHead(waiting) {
                    let length = Self.bodyLength(String(decoding: waiting[..<end], as: UTF8.self))
                    if waiting.count < end + length { break }
                    let answer = answer(waiting[..<end], waiting[end..<(end + length)])
                    waiting.removeFirst(end + length)
                    guard send(connection, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count else { return }
                }
            }
        }

        private static func endOfHead(_ bytes: [UInt8]) -> Int? {
            var place = 3
            while place < bytes.count {
                if bytes[place] == 10, bytes[place - 1] == 13, bytes[place - 2] == 10 { return place + 1 }
                place += 1
            }
            return nil
        }

        private static func bodyLength(_ head: String) -> Int {
            let field = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
            return field.flatMap { Int($0.drop { $0 != ":" }.dropFirst().drop { $0 == " " }) } ?? 0
        }

        private func answer(_ request: ArraySlice<UInt8>, _ sent: ArraySlice<UInt8>) -> [UInt8] {
            if let changes = try? JSONText(sent)["operations"]?.items.count {
                return Self.answer(Self.results(changes), type: "application/json")
            }
            let path = request.drop { $0 != UInt8(ascii: "/") }.prefix { $0 != UInt8(ascii: " ") }
            let isCount = path.elementsEqual(Self.countPath.utf8)
            let total = isCount ? served.load(ordering: .relaxed) : served.add(1, ordering: .relaxed).newValue
            let body = isCount ? Array("\(total)".utf8) : path + [UInt8(ascii: " ")] + filling
            return Self.answer(body, type: "text/plain")
        }

        /// The answer to a batch of changes that are all accepted.
        static func results(_ changes: Int) -> [UInt8] {
            let results = [String](repeating: #"{"code":200}"#, count: changes).joined(separator: ",")
            return Array("{\"results\":[\(results)]}".utf8)
        }

        private static func answer(_ body: [UInt8], type: String) -> [UInt8] {
            let head = """
                HTTP/1.1 200 OK\r
                Content-Type: \(type)\r
                ETag: "1"\r
                Cache-Control: max-age=60\r
                Content-Length: \(body.count)\r
                \r

                """
            return Array(head.utf8) + body
        }
    }

    private func system_accept(_ listener: Int32) -> Int32 {
        while true {
            let connection = accept(listener, nil, nil)
            if connection >= 0 || errno != EINTR { return connection }
        }
    }
#endif
