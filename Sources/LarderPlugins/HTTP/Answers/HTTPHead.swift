import LarderCore

/// The head of an answer: its status and fields.
struct HTTPHead: Sendable {
    /// The status.
    var status: Int
    /// The version of HTTP, such as `1.1` or `2`.
    var version: String
    /// The header fields, in the order in which they arrived.
    var fields: [Fields.Field] = []
    /// The stated length of the body as it is sent; nil if none is stated, or if the fields were not checked.
    private(set) var length: Int?

    /// The compressions of the body, in the order in which they were applied.
    var codings: [String] {
        fields.filter { $0.name == "content-encoding" }.flatMap { field in
            field.value.lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        }
    }

    /// Whether the body is compressed.
    var isEncoded: Bool { codings.contains { $0 != "identity" } }

    /// The fields of an answer whose body has been decoded: without those that describe how it was compressed.
    var decodedFields: [Fields.Field] {
        isEncoded
            ? fields.filter { $0.name != "content-encoding" && $0.name != "content-length" } : fields
    }

    /// Whether the body is sent in chunks.
    var isChunked: Bool { fields.contains { $0.name == "transfer-encoding" } }

    /// Whether an answer to a request with this method has no body, whatever its fields say.
    func hasNoBody(to method: String) -> Bool { method == "HEAD" || status == 204 || status == 304 }

    /// Reads the length of the body. It must be one number, also if it is stated several times: otherwise the end of the
    /// body would be a guess.
    mutating func readLength() throws(HTTPFailure) {
        for field in fields where field.name == "content-length" {
            for text in field.value.split(separator: ",", omittingEmptySubsequences: false) {
                guard let number = text.utf8.trimmed.number else {
                    throw .malformed("the answer states a length that is not a number")
                }
                guard length == nil || length == number else {
                    throw .malformed("the answer states its length in two ways")
                }
                length = number
            }
        }
    }
}

/// Reads the heads that a server sends, line by line: those with a status of 1xx, then the head of the answer.
struct HTTPHeadReader {
    /// The largest size of all heads together, in bytes, with 32 for each line.
    static let capacity = 1 << 16

    private var head: HTTPHead?
    private var size = 0

    /// Reads a line, with its line break.
    ///
    /// - Returns: the head of the answer if the line ends it, otherwise nil.
    mutating func read(_ line: UnsafeRawBufferPointer) throws(HTTPFailure) -> HTTPHead? {
        // As much as `Fields` counts, so that no field of a head that is read is left out there.
        size += line.count + 32
        guard size <= Self.capacity else { throw HTTPFailure(.tooLarge, "the answer's head is too large") }
        let text = line.withoutLineBreak
        guard var head else {
            self.head = try Self.status(text)
            return nil
        }
        guard text.isEmpty else {
            try addField(text)
            return nil
        }
        self.head = nil
        guard head.status >= 200 else {
            guard head.status != 101 else { throw .malformed("the server changed the protocol, unasked") }
            return nil
        }
        try head.readLength()
        // No other coding of the transfer was asked for, and chunks state their end only if they are applied last.
        let codings = head.fields.filter { $0.name == "transfer-encoding" }.map { $0.value.lowercased() }
        guard codings.isEmpty || codings == ["chunked"] else {
            throw .malformed("the answer is coded in a way that was not asked for")
        }
        return head
    }

    /// Checks a line behind a body that was sent in chunks. It is a field, or empty.
    static func check(trailer line: UnsafeRawBufferPointer) throws(HTTPFailure) {
        let text = line.withoutLineBreak
        guard text.isEmpty || field(text) != nil else { throw .malformed("a field behind the answer is not valid") }
    }

    /// Reads a status line: `HTTP/1.1 200 OK`.
    private static func status(_ line: UnsafeRawBufferPointer) throws(HTTPFailure) -> HTTPHead {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0].starts(with: "HTTP/".utf8), words[0].count > 5, words[1].count == 3,
            let status = words[1].number, status >= 100
        else { throw .malformed("the answer has no valid status line") }
        return HTTPHead(status: status, version: String(decoding: words[0].dropFirst(5), as: UTF8.self))
    }

    private mutating func addField(_ line: UnsafeRawBufferPointer) throws(HTTPFailure) {
        if let first = line.first, first.isBlank, let last = head?.fields.popLast() {
            // A folded line, which belongs to the field before it.
            let value = last.value + " " + String(decoding: line.trimmed, as: UTF8.self)
            try add(Fields.Field(last.name, value))
        } else {
            try add(Self.field(line))
        }
    }

    private static func field(_ line: UnsafeRawBufferPointer) -> Fields.Field? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let value = line[(colon + 1)...].trimmed
        return Fields.Field(String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    private mutating func add(_ field: Fields.Field?) throws(HTTPFailure) {
        guard let field else { throw .malformed("a header field of the answer is not valid") }
        head?.fields.append(field)
    }
}

extension HTTPFailure {
    fileprivate static func malformed(_ description: String) -> HTTPFailure { HTTPFailure(.malformed, description) }
}

extension UInt8 {
    /// Whether this is a space or a tab.
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension UnsafeRawBufferPointer {
    fileprivate var withoutLineBreak: UnsafeRawBufferPointer {
        var count = self.count
        if count > 0, self[count - 1] == UInt8(ascii: "\n") { count -= 1 }
        if count > 0, self[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[..<count])
    }
}

extension BidirectionalCollection where Element == UInt8 {
    /// The bytes without spaces and tabs around them.
    fileprivate var trimmed: SubSequence {
        var rest = self[...]
        while let first = rest.first, first.isBlank { rest.removeFirst() }
        while let last = rest.last, last.isBlank { rest.removeLast() }
        return rest
    }

    /// The number that the bytes are digits of. Nil if there are none, or if it is too large.
    fileprivate var number: Int? {
        if isEmpty { return nil }
        return reduce(.some(0)) { number, byte in
            guard let number, let digit = HTTPText.digit(byte) else { return nil }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = tens.addingReportingOverflow(digit)
            return isTooLarge || isLarger ? nil : sum
        }
    }
}
