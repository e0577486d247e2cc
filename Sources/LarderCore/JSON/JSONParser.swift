/// Parses strict JSON (RFC 8259) into a tree of nodes that know their positions in the source.
///
/// The parser rejects trailing commas, comments, duplicate names, invalid UTF-8 and text that is nested too deep. So
/// every JSON reader understands the accepted text in the same way. The time is proportional to the length of the text,
/// also for hostile input.
package struct JSONParser {
    /// The largest size of a policy, in bytes.
    package static let mostBytes = 1_000_000
    private static let deepest = 64

    /// A list among the members of the root, whose items are not kept in the tree.
    package struct PassedList {
        /// The name of the member.
        let name: String
        /// Called with each item, and the members of the root before the list.
        let pass: (_ item: Node, _ before: [Node.Member]) -> Void

        package init(_ name: String, pass: @escaping (_ item: Node, _ before: [Node.Member]) -> Void) {
            (self.name, self.pass) = (name, pass)
        }
    }

    private let source: SourceText
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    /// The number of values in the tree so far. A value takes many times the memory of its text.
    private var values = 0
    private let mostValues: Int
    private let passed: PassedList?

    /// Returns the tree of a text.
    ///
    /// - Parameters:
    ///   - mostValues: the largest number of values in the tree, and in each item of the passed list.
    ///   - passed: a list whose items are passed on one after the other, so that the list is never in memory as a whole. It
    ///     is empty in the tree.
    /// - Throws: ``JSONError`` for the first mistake. The parser stops there, because the meaning of the text after a
    ///   mistake is uncertain.
    package static func parse(
        _ source: SourceText, mostValues: Int = .max, passing passed: PassedList? = nil
    ) throws(JSONError) -> Node {
        var parser = JSONParser(source, mostValues: mostValues, passed: passed)
        try parser.skipSpace()
        if parser.position == parser.bytes.count {
            throw parser.problem("the file is empty", expected: "a JSON object")
        }
        let node = try parser.value()
        try parser.skipSpace()
        if parser.position < parser.bytes.count {
            throw parser.problem("there is more after the end of the value", expected: "the end of the file")
        }
        return node
    }

    private init(_ source: SourceText, mostValues: Int, passed: PassedList?) {
        (self.source, self.mostValues, self.passed) = (source, mostValues, passed)
        bytes = source.bytes
    }

    private var here: SourcePosition { SourcePosition(source, offset: position) }
    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func problem(_ message: String, at offset: Int? = nil, expected: String? = nil) -> JSONError {
        JSONError(message: message, expected: expected, position: SourcePosition(source, offset: offset ?? position))
    }

    private mutating func skipSpace() throws(JSONError) {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        if next == UInt8(ascii: "/") { throw problem("JSON has no comments") }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(JSONError) -> Node {
        let start = here
        values += 1
        if values > mostValues {
            throw JSONError(
                message: "more than \(mostValues) values", expected: nil, position: start, isLimit: true)
        }
        switch next {
        case UInt8(ascii: "{"):
            return Node(.object(try nested { parser throws(JSONError) in try parser.members().trimmed }), at: start)
        case UInt8(ascii: "["):
            return Node(.list(try nested { parser throws(JSONError) in try parser.items().trimmed }), at: start)
        case UInt8(ascii: "\""): return Node(.string(try string()), at: start)
        case UInt8(ascii: "t"): return Node(try word("true", .bool(true)), at: start)
        case UInt8(ascii: "f"): return Node(try word("false", .bool(false)), at: start)
        case UInt8(ascii: "n"): return Node(try word("null", .null), at: start)
        case .some(UInt8(ascii: "-")), .some(UInt8(ascii: "0")...UInt8(ascii: "9")):
            return Node(try number(), at: start)
        case nil: throw problem("the file ends too early", expected: "a value")
        case UInt8(ascii: "/"), UInt8(ascii: "#"): throw problem("JSON has no comments", expected: "a value")
        case 0xFE where bytes.starts(with: [0xFE, 0xFF]), 0xFF where bytes.starts(with: [0xFF, 0xFE]):
            throw problem("the file is UTF-16, not UTF-8", expected: "a value")
        case 0xEF where bytes.starts(with: [0xEF, 0xBB, 0xBF]) && position == 0:
            throw problem("the file begins with a byte order mark", expected: "a value")
        default: throw noValue()
        }
    }

    private func noValue(at offset: Int? = nil) -> JSONError {
        problem("no value is written like this", at: offset, expected: "a value (text stands in double quotes)")
    }

    private mutating func nested<Result>(_ read: (inout JSONParser) throws(JSONError) -> Result) throws(JSONError)
        -> Result
    {
        guard depth < Self.deepest else { throw problem("nested deeper than \(Self.deepest) levels") }
        depth += 1
        position += 1
        defer { depth -= 1 }
        return try read(&self)
    }

    private mutating func members() throws(JSONError) -> [Node.Member] {
        var members: [Node.Member] = []
        // A set of names is faster than a search only in objects with many members.
        var names: Set<String>?
        try skipSpace()
        if skip("}") { return members }
        // Most objects have a few members. Growing from one would move them twice.
        members.reserveCapacity(4)
        while true {
            try skipSpace()
            let start = here
            guard next == UInt8(ascii: "\"") else {
                if next == nil { throw problem("the file ends too early", expected: "a name in double quotes") }
                if next == UInt8(ascii: "/") || next == UInt8(ascii: "#") {
                    throw problem("JSON has no comments", expected: "a name in double quotes")
                }
                let isTrailing = next == UInt8(ascii: "}") && !members.isEmpty
                throw problem(
                    isTrailing ? "a comma stands before the end of the object" : "no name begins like this",
                    expected: "a name in double quotes")
            }
            let name = try string()
            if members.count == 16 { names = Set(members.map(\.name)) }
            if names?.insert(name).inserted == false
                || names == nil && members.indices.contains(where: { members[$0].name == name })
            {
                throw problem("'\(name.prefix(64))' occurs twice", at: start.offset, expected: "each name once")
            }
            try skipSpace()
            guard skip(":") else { throw problem("a colon is missing", expected: "':'") }
            try skipSpace()
            if depth == 1, let passed, passed.name == name, next == UInt8(ascii: "[") {
                let list = Node(.list([]), at: here)
                _ = try nested { [members] parser throws(JSONError) in
                    try parser.items { passed.pass($0, members) }
                }
                members.append(Node.Member(name: name, position: start, value: list))
            } else {
                members.append(Node.Member(name: name, position: start, value: try value()))
            }
            try skipSpace()
            if skip("}") { return members }
            guard skip(",") else {
                throw problem(next == nil ? "the file ends too early" : "a comma is missing", expected: "',' or '}'")
            }
        }
    }

    /// - Parameter pass: called with each item, which is then left out; nil to return them.
    private mutating func items(_ pass: ((Node) -> Void)? = nil) throws(JSONError) -> [Node] {
        var items: [Node] = []
        var hasItems = false
        try skipSpace()
        if skip("]") { return items }
        while true {
            try skipSpace()
            if next == UInt8(ascii: "]"), hasItems {
                throw problem("a comma stands before the end of the list", expected: "a value")
            }
            hasItems = true
            if let pass {
                let before = values
                pass(try value())
                values = before
            } else {
                items.append(try value())
            }
            try skipSpace()
            if skip("]") { return items }
            guard skip(",") else {
                throw problem(next == nil ? "the file ends too early" : "a comma is missing", expected: "',' or ']'")
            }
        }
    }

    private mutating func word(_ word: String, _ content: Node.Content) throws(JSONError) -> Node.Content {
        let start = position
        guard bytes[position...].starts(with: word.utf8) else { throw noValue() }
        position += word.utf8.count
        try endOfWord(from: start)
        return content
    }

    private mutating func number() throws(JSONError) -> Node.Content {
        let start = position
        _ = skip("-")
        if !skip("0"), digits() == 0 { throw problem("a digit is missing", expected: "a number") }
        if let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            throw problem("a number cannot begin with 0", at: start, expected: "a number")
        }
        if skip("."), digits() == 0 { throw problem("a digit is missing", expected: "a number") }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            if digits() == 0 { throw problem("a digit is missing", expected: "a number") }
        }
        let text = bytes.withUnsafeBufferPointer {
            String(decoding: UnsafeBufferPointer(rebasing: $0[start..<position]), as: UTF8.self)
        }
        guard let value = Double(text), value.isFinite else {
            throw problem("the number is too large", at: start, expected: "a number")
        }
        try endOfWord(from: start)
        return .number(value, text: text)
    }

    /// Checks that the word or number that began at `start` ends here. Throws for texts such as `0x3`, `8s` and
    /// `truely`.
    private func endOfWord(from start: Int) throws(JSONError) {
        guard let next else { return }
        switch next {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"):
            throw noValue(at: start)
        default: return
        }
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position - start
    }

    private mutating func string() throws(JSONError) -> String {
        let start = position
        position += 1
        // The bytes before the first escape are taken together.
        var all: UInt8 = 0
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
            all |= byte
            position += 1
        }
        if next == UInt8(ascii: "\""), all < 0x80 {
            position += 1
            return bytes.withUnsafeBufferPointer {
                String(decoding: UnsafeBufferPointer(rebasing: $0[(start + 1)..<(position - 1)]), as: UTF8.self)
            }
        }
        var text = Array(bytes[(start + 1)..<position])
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw problem("the string is not valid UTF-8", at: start)
                }
                return string
            case UInt8(ascii: "\\"): text += try escape()
            case 0..<0x20:
                throw problem(
                    byte == 0x0A || byte == 0x0D
                        ? "the string is not closed on its line" : "a control character in a string",
                    expected: byte == 0x0A || byte == 0x0D ? "'\"'" : "an escape such as \\u0009")
            default:
                text.append(byte)
                position += 1
            }
        }
        throw problem("the string is not closed", at: start, expected: "'\"'")
    }

    private mutating func escape() throws(JSONError) -> [UInt8] {
        let start = position
        position += 1
        defer { position += 1 }
        switch next {
        case UInt8(ascii: "\""): return [UInt8(ascii: "\"")]
        case UInt8(ascii: "\\"): return [UInt8(ascii: "\\")]
        case UInt8(ascii: "/"): return [UInt8(ascii: "/")]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            let first = try unit(start)
            guard (0xD800..<0xE000).contains(first) else { return utf8(first) }
            guard first < 0xDC00, position + 2 < bytes.count, bytes[position + 1] == UInt8(ascii: "\\"),
                bytes[position + 2] == UInt8(ascii: "u")
            else { throw problem("half of a surrogate pair", at: start) }
            position += 2
            let second = try unit(start)
            guard (0xDC00..<0xE000).contains(second) else { throw problem("half of a surrogate pair", at: start) }
            return utf8(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        default:
            throw problem("there is no such escape", at: start, expected: "\\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u")
        }
    }

    /// Reads the four hexadecimal digits after `\u`. The position is then at the last digit.
    private mutating func unit(_ start: Int) throws(JSONError) -> UInt32 {
        let digits = bytes[min(position + 1, bytes.count)..<min(position + 5, bytes.count)]
        guard digits.count == 4, digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw problem("four hexadecimal digits are missing", at: start) }
        position += 4
        return unit
    }

    private func utf8(_ scalar: UInt32) -> [UInt8] {
        Unicode.Scalar(scalar).map { Array(String($0).utf8) } ?? []
    }
}

extension Array {
    /// The array without room for more elements, because policies are kept as long as they are in effect.
    fileprivate var trimmed: [Element] { capacity > count ? withUnsafeBufferPointer { Array($0) } : self }
}
