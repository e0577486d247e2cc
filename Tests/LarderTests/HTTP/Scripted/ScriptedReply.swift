import LarderFoundation

/// The reaction of a ``ScriptedServer`` to a request.
struct ScriptedReply: Sendable {
    /// One step of a reply.
    enum Step: Sendable {
        /// Sends bytes.
        case bytes(Data)
        /// Sends bytes, unless the request's method is HEAD.
        case body(Data)
        /// Sends the same bytes many times. Opens the gate when the client has read nothing for 0.3 s.
        case repeated(Data, times: Int, heldBack: Gate? = nil)
        /// Waits until the gate is open.
        case wait(Gate)
        /// Opens a gate.
        case open(Gate)
        /// Waits until the client ends the connection.
        case silence
        /// Does something else.
        case run(@Sendable () -> Void)
        /// Resets the connection.
        case reset
        /// Ends the connection.
        case close

        /// Sends a text.
        static func send(_ text: String) -> Step { .bytes(Data(text.utf8)) }
    }

    /// The steps, in order. After the last one, the server reads the next request of the connection.
    var steps: [Step]
    /// The gate that is opened if the client ends the connection before the last step is done.
    var clientLeft: Gate?

    /// Follows these steps.
    static func steps(_ steps: Step..., clientLeft: Gate? = nil) -> ScriptedReply {
        ScriptedReply(steps: steps, clientLeft: clientLeft)
    }

    /// Sends a text as it is and ends the connection.
    static func raw(_ text: String) -> ScriptedReply { .steps(.send(text), .close) }

    /// Sends a text byte by byte.
    static func trickle(_ text: String) -> ScriptedReply {
        ScriptedReply(steps: text.utf8.map { .bytes(Data([$0])) })
    }

    /// Answers as a server should, with the length of the body, and keeps the connection.
    static func answer(
        _ status: Int = 200, _ fields: KeyValuePairs<String, String> = [:], _ body: String = ""
    ) -> ScriptedReply {
        answer(status, fields, data: Data(body.utf8))
    }

    /// Answers as a server should, with the length of the body, and keeps the connection.
    static func answer(
        _ status: Int = 200, _ fields: KeyValuePairs<String, String> = [:], data body: Data
    ) -> ScriptedReply {
        let hasBody = status >= 200 && status != 204 && status != 304
        let length = hasBody ? [("Content-Length", "\(body.count)")] : []
        return .steps(.send(head(status, fields.map { ($0, $1) } + length)), .body(hasBody ? body : Data()))
    }

    /// Answers in chunks, and keeps the connection.
    static func chunks(
        _ chunks: [String], _ fields: KeyValuePairs<String, String> = [:]
    ) -> ScriptedReply {
        let parts = chunks.map { String($0.utf8.count, radix: 16) + "\r\n" + $0 + "\r\n" }
        return ScriptedReply(
            steps: [.send(head(200, fields.map { ($0, $1) } + [("Transfer-Encoding", "chunked")]))]
                + (parts + ["0\r\n\r\n"]).map { .body(Data($0.utf8)) })
    }

    /// Returns the head of an answer.
    static func head(_ status: Int, _ fields: [(name: String, value: String)]) -> String {
        fields.reduce("HTTP/1.1 \(status) Scripted\r\n") { $0 + "\($1.name): \($1.value)\r\n" } + "\r\n"
    }
}
