import LarderFoundation
import Larder
import LarderSystem

/// A server with one large file. It sends the first answers only in part, and sends the rest on request.
final class DownloadServer: Sendable {
    /// The way in which an answer goes wrong.
    enum Flaw: String, CaseIterable, Sendable {
        /// The connection ends after the bytes that the answer has.
        case breaksOff
        /// The part begins elsewhere, or ends elsewhere, or is of a file of another size.
        case wrongStart, wrongEnd, wrongSize, noSize
        /// The part is of another version, or does not say of which.
        case otherTag, noTag, weakTag
        /// The part says nothing about its place, or twice, or nonsense.
        case noRange, twoRanges, nonsense
        /// The part is compressed.
        case compressed
        /// The length of the part is not the one of its place.
        case wrongLength
        /// There are more bytes than the part says.
        case tooMany
        /// The server refuses the part.
        case status416, status400
        /// The server says that a copy is current, about which it was not asked.
        case status304
        /// The server ignores the wish for a part.
        case whole
    }

    struct State {
        var content: Data
        var tag: String? = "\"1\""
        /// The fields of every answer beside the tag.
        var fields: [(name: String, value: String)] = [("Cache-Control", "max-age=60")]
        /// The number of bytes after which the next answers break off, one for each answer.
        var breaks: [Int] = []
        /// The flaw of every part.
        var flaw: Flaw?
        var isChunked = false
        /// Whether the server observes `If-Range`.
        var comparesVersion = true
    }

    let state: Locked<State>
    let server: ScriptedServer

    init(_ size: Int = 1_000_000, breaks: [Int] = [400_000]) throws {
        let state = Locked(State(content: Self.content(size), breaks: breaks))
        self.state = state
        server = try ScriptedServer { request in state.withLock { Self.reply(to: request, &$0) } }
    }

    /// Bytes that are different everywhere, and in each version.
    static func content(_ size: Int, version: UInt64 = 1) -> Data {
        var bytes = [UInt8](repeating: 0, count: size)
        var word = version &* 0x9E37_79B9_7F4A_7C15
        for index in bytes.indices {
            word = word &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes[index] = UInt8(truncatingIfNeeded: word >> 56)
        }
        return Data(bytes)
    }

    var content: Data { state.withLock { $0.content } }

    /// The values of `Range` of the requests so far.
    var ranges: [String?] { server.requests.map { $0["Range"] } }

    private static func reply(to request: ScriptedRequest, _ state: inout State) -> ScriptedReply {
        let whole = state.content
        let start = request["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
        let isSame = !state.comparesVersion || request["If-Range"] == nil || request["If-Range"] == version(of: state)
        guard let start, isSame, state.flaw != .whole else {
            return reply(200, common(state), whole, of: whole.count, &state)
        }
        if state.flaw == .status416 { return .answer(416, ["Content-Range": "bytes */5"], "no") }
        if state.flaw == .status304 { return .answer(304, ["ETag": state.tag ?? ""]) }
        if state.flaw == .status400 { return .answer(400, [:], "no") }
        guard start < whole.count else { return .answer(416, ["Content-Range": "bytes */\(whole.count)"]) }
        var body = whole[start...]
        var fields = common(state)
        var range = "bytes \(start)-\(whole.count - 1)/\(whole.count)"
        switch state.flaw {
        case .wrongStart: range = "bytes \(start + 1)-\(whole.count - 1)/\(whole.count)"
        case .wrongEnd: range = "bytes \(start)-\(whole.count)/\(whole.count)"
        case .wrongSize: range = "bytes \(start)-\(whole.count - 1)/\(whole.count + 1)"
        case .noSize: range = "bytes \(start)-\(whole.count - 1)/*"
        case .otherTag: fields = fields.map { $0.name == "ETag" ? ("ETag", "\"2\"") : $0 }
        case .weakTag: fields = fields.map { $0.name == "ETag" ? ("ETag", "W/\"1\"") : $0 }
        case .noTag: fields.removeAll { $0.name == "ETag" }
        case .twoRanges: fields.append(("Content-Range", "bytes 0-1/2"))
        case .nonsense: range = "bytes \(start)–\(whole.count)"
        case .compressed: fields.append(("Content-Encoding", "gzip"))
        case .wrongLength: body = body.dropLast()
        case .tooMany: range = "bytes \(start)-\(whole.count - 2)/\(whole.count - 1)"
        default: break
        }
        if state.flaw == .compressed { body = Compressed.gzip(Data("no".utf8)) }
        if state.flaw != .noRange { fields.append(("Content-Range", range)) }
        return reply(206, fields, body, of: body.count, &state)
    }

    private static func reply(
        _ status: Int, _ fields: [(name: String, value: String)], _ body: Data, of length: Int, _ state: inout State
    ) -> ScriptedReply {
        let limit = state.breaks.isEmpty ? nil : state.breaks.removeFirst()
        let isChunked = state.isChunked || state.flaw == .tooMany && status == 206
        let length = isChunked ? ("Transfer-Encoding", "chunked") : ("Content-Length", "\(length)")
        let sent = body.prefix(limit ?? .max)
        var reply = ScriptedReply.steps(.send(ScriptedReply.head(status, fields + [length])))
        if isChunked { reply.steps.append(.send(String(sent.count, radix: 16) + "\r\n")) }
        reply.steps.append(.body(Data(sent)))
        if limit != nil {
            reply.steps.append(.close)
        } else if isChunked {
            reply.steps.append(.send("\r\n0\r\n\r\n"))
        }
        return reply
    }

    private static func common(_ state: State) -> [(name: String, value: String)] {
        state.fields + (state.tag.map { [("ETag", $0)] } ?? [])
    }

    private static func version(of state: State) -> String? {
        state.tag ?? state.fields.first { $0.name == "Last-Modified" }?.value
    }
}
