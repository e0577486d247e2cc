import Foundation
import Synchronization

import LarderFoundation

/// A small local HTTP server that answers one request on each connection.
final class LoopbackServer: Sendable {
    struct Request: Sendable {
        var path: String
        /// The header fields by lowercase name.
        var headers: [String: String]
        var method = "GET"
        var body = Data()
    }

    struct Reply: Sendable {
        var status: Int
        var headers: [String: String] = [:]
        var body = ""
    }

    let url: URL
    private let listener: Int32
    /// The connections that are kept open without an answer. Nil after the server was stopped.
    private let silent = Mutex<[Int32]?>([])
    private let heard = Mutex(0)

    /// Answers each request with the result of `answer`. A request for which `answer` returns nil is never answered.
    init(_ answer: @escaping @Sendable (Request) -> Reply?) throws {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let listener = socket(AF_INET, stream, 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard result, let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))") else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        self.url = url
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                // A signal that another test sends does not stop the server.
                if connection < 0, errno == EINTR { continue }
                guard connection >= 0, let self else {
                    if connection >= 0 { close(connection) }
                    #if !canImport(Darwin)
                        // Only this thread closes the socket. Closed by another one, its number could be that of another
                        // server's socket by now, whose connections would be taken here and never answered.
                        close(listener)
                    #endif
                    return
                }
                serve(connection, answer)
            }
        }
    }

    /// The number of requests received.
    var requests: Int { heard.withLock { $0 } }

    deinit { stop() }

    /// Refuses connections from now on.
    func stop() {
        let connections = silent.withLock { silent in
            let connections = silent
            silent = nil
            return connections
        }
        guard let connections else { return }
        // The thread that accepts connections wakes up. On Darwin, only the end of the socket wakes it.
        shutdown(listener, Int32(SHUT_RDWR))
        #if canImport(Darwin)
            close(listener)
        #endif
        for descriptor in connections { close(descriptor) }
    }

    private func serve(_ connection: Int32, _ answer: (Request) -> Reply?) {
        guard let request = Self.request(from: connection) else {
            close(connection)
            return
        }
        heard.withLock { $0 += 1 }
        guard let reply = answer(request) else {
            let isKept = silent.withLock { silent in
                silent?.append(connection)
                return silent != nil
            }
            if !isKept { close(connection) }
            return
        }
        var text = "HTTP/1.1 \(reply.status) Whatever\r\nConnection: close\r\n"
        if reply.status != 304 { text += "Content-Length: \(reply.body.utf8.count)\r\n" }
        for (name, value) in reply.headers { text += "\(name): \(value)\r\n" }
        let bytes = Array((text + "\r\n" + (reply.status == 304 ? "" : reply.body)).utf8)
        #if canImport(Darwin)
            _ = send(connection, bytes, bytes.count, 0)
        #else
            _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        #endif
        close(connection)
    }

    private static func request(from connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n") {
            let count = recv(connection, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        while bytes.count < end.upperBound + length {
            let count = recv(connection, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
        return Request(
            path: String(words[1]), headers: headers, method: String(words[0]),
            body: Data(bytes[end.upperBound..<(end.upperBound + length)]))
    }
}
