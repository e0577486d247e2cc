import LarderFoundation

/// A request that a ``ScriptedServer`` received.
struct ScriptedRequest: Sendable {
    /// The number of the request, from 1, among all that the server received.
    var number: Int
    /// The number of the connection, from 1.
    var connection: Int
    var method: String
    /// The target as it was sent: a path with its query, or an absolute URL if the server is used as a proxy.
    var target: String
    /// The header fields as they were sent.
    var fields: [(name: String, value: String)]
    var body: Data

    /// The path without its query.
    var path: String { target.split(separator: "?", maxSplits: 1).first.map(String.init) ?? "" }

    /// The values of a field, joined by commas; nil if the request has no such field.
    subscript(name: String) -> String? {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

/// Reads requests from the bytes of a connection.
struct ScriptedRequestReader {
    /// The reason why bytes are no request.
    struct NoRequest: Error {}

    /// The bytes that arrived and belong to no request yet.
    private var bytes: [UInt8] = []
    private var head: (end: Int, request: ScriptedRequest)?

    mutating func append(_ new: some Sequence<UInt8>) { bytes += new }

    /// Returns the next request; nil if more bytes are needed.
    mutating func next() throws(NoRequest) -> ScriptedRequest? {
        if head == nil, let end = bytes.endOfHead { head = (end, try Self.request(bytes[..<end])) }
        guard let (start, request) = head else {
            guard bytes.count < 1 << 20 else { throw NoRequest() }
            return nil
        }
        guard let (body, end) = try body(of: request, from: start) else { return nil }
        (head, bytes) = (nil, Array(bytes[end...]))
        var whole = request
        whole.body = body
        return whole
    }

    private static func request(_ head: ArraySlice<UInt8>) throws(NoRequest) -> ScriptedRequest {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3, words[2].hasPrefix("HTTP/") else { throw NoRequest() }
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: String(parts[0]), value: parts.count < 2 ? "" : String(parts[1].drop { $0 == " " }))
        }
        return ScriptedRequest(
            number: 0, connection: 0, method: String(words[0]), target: String(words[1]), fields: fields, body: Data())
    }

    private func body(of request: ScriptedRequest, from start: Int) throws(NoRequest) -> (Data, end: Int)? {
        guard request["Transfer-Encoding"]?.lowercased() == "chunked" else {
            guard let length = Int(request["Content-Length"] ?? "0"), length >= 0 else { throw NoRequest() }
            return bytes.count - start >= length ? (Data(bytes[start..<(start + length)]), start + length) : nil
        }
        var (body, place) = (Data(), start)
        while let line = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) {
            let digits = String(
                decoding: bytes[place..<line].prefix { $0 != 13 && $0 != UInt8(ascii: ";") }, as: UTF8.self)
            guard let size = Int(digits, radix: 16), size >= 0 else { throw NoRequest() }
            let end = line + 1 + size + 2
            guard bytes.count >= end else { return nil }
            body += bytes[(line + 1)..<(end - 2)]
            if size == 0 { return (body, end) }
            place = end
        }
        return nil
    }
}

extension [UInt8] {
    /// The end of the first empty line.
    fileprivate var endOfHead: Int? {
        let ending = Array("\r\n\r\n".utf8)
        guard count >= ending.count else { return nil }
        return (0...(count - ending.count)).first { self[$0] == 13 && self[$0..<($0 + 4)].elementsEqual(ending) }
            .map { $0 + 4 }
    }
}
