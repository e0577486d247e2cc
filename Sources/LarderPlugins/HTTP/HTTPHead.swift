import LarderCore

/// The head of an answer: its status and fields.
struct HTTPHead: Sendable {
    /// The status.
    var status: Int
    /// The version of HTTP, such as `1.1` or `2`.
    var version: String
    /// The header fields, in the order in which they arrived.
    var fields: [Fields.Field] = []

    /// The compressions of the body, in the order in which they were applied.
    var codings: [String] {
        fields.filter { $0.name == "content-encoding" }.flatMap { field in
            field.value.lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        }
    }

    /// Whether each part of the body unpacks to at most about a thousand times its size.
    var unpacksModerately: Bool {
        let codings = codings.filter { $0 != "identity" }
        return codings.isEmpty || codings.count == 1 && ["gzip", "x-gzip", "deflate"].contains(codings[0])
    }

    /// Whether the body is compressed.
    var isEncoded: Bool { codings.contains { $0 != "identity" } }

    /// The fields of an answer whose body has been decoded: without those that describe how it was compressed.
    var decodedFields: [Fields.Field] {
        isEncoded
            ? fields.filter { $0.name != "content-encoding" && $0.name != "content-length" } : fields
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
        guard let head else {
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
        guard Self.agreesOnLength(head) else { throw .malformed("the answer states its length in two ways") }
        return head
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
            let value = last.value + " " + String(decoding: line[...].trimmed, as: UTF8.self)
            try add(Fields.Field(last.name, value))
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let value = line[(colon + 1)...].trimmed
            try add(
                Fields.Field(String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
        } else {
            try add(nil)
        }
    }

    private mutating func add(_ field: Fields.Field?) throws(HTTPFailure) {
        guard let field else { throw .malformed("a header field of the answer is not valid") }
        head?.fields.append(field)
    }

    /// Whether all fields for the length of the body, if there are several, have the same value. Otherwise the end of
    /// the body would be a guess.
    private static func agreesOnLength(_ head: HTTPHead) -> Bool {
        var length: String?
        for field in head.fields where field.name == "content-length" {
            if let length, length != field.value { return false }
            length = field.value
        }
        return true
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

extension Slice<UnsafeRawBufferPointer> {
    /// The bytes without spaces and tabs around them.
    fileprivate var trimmed: Slice<UnsafeRawBufferPointer> {
        var rest = self
        while let first = rest.first, first.isBlank { rest.removeFirst() }
        while let last = rest.last, last.isBlank { rest.removeLast() }
        return rest
    }

    /// The number that the bytes are digits of.
    fileprivate var number: Int? {
        reduce(.some(0)) { number, byte in
            guard let number, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            return number * 10 + Int(byte - UInt8(ascii: "0"))
        }
    }
}
