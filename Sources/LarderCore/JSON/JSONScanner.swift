/// Finds the values in JSON bytes without making a tree of them.
///
/// Checking reads every byte once. All other functions expect bytes that were checked.
struct JSONScanner {
    private static let deepest = 128
    /// The number of members from which on a set of names finds those that occur twice.
    private static let manyMembers = 16

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Checks the bytes, and returns the range of the value in them.
    mutating func checkedRange() throws(JSONText.Mistake) -> Range<Int> {
        skipSpace()
        let start = position
        try checkValue()
        let end = position
        skipSpace()
        if position < bytes.count { throw mistake("there is more after the end of the value") }
        return start..<end
    }

    // MARK: Checking

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func mistake(_ description: String) -> JSONText.Mistake {
        JSONText.Mistake(description: description, offset: position)
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func checkValue() throws(JSONText.Mistake) {
        switch next {
        case UInt8(ascii: "{"): try checkObject()
        case UInt8(ascii: "["): try checkList()
        case UInt8(ascii: "\""): _ = try checkString()
        case UInt8(ascii: "t"): try checkWord("true")
        case UInt8(ascii: "f"): try checkWord("false")
        case UInt8(ascii: "n"): try checkWord("null")
        case nil: throw mistake("the text ends too early")
        default: try checkNumber()
        }
    }

    private mutating func begin() throws(JSONText.Mistake) {
        depth += 1
        position += 1
        if depth > Self.deepest { throw mistake("the text is nested deeper than \(Self.deepest) levels") }
        skipSpace()
    }

    private mutating func checkList() throws(JSONText.Mistake) {
        try begin()
        defer { depth -= 1 }
        if skip("]") { return }
        while true {
            try checkValue()
            skipSpace()
            if skip("]") { return }
            guard skip(",") else { throw mistake("a comma or the end of a list is missing") }
            skipSpace()
        }
    }

    private mutating func checkObject() throws(JSONText.Mistake) {
        try begin()
        defer { depth -= 1 }
        if skip("}") { return }
        // The names, as they are written. A set takes their place when there are many, or when one has an escape.
        var ranges: [Range<Int>] = []
        ranges.reserveCapacity(Self.manyMembers / 2)
        var names: Set<[UInt8]>?
        while true {
            let start = position
            let hasEscapes = try checkString()
            let range = start..<position
            if names == nil, hasEscapes || ranges.count == Self.manyMembers {
                names = Set(ranges.map { Self.name(in: bytes, $0) })
            }
            let isNew =
                names.map { _ in names?.insert(Self.name(in: bytes, range)).inserted == true }
                ?? !ranges.contains { $0.count == range.count && bytes[$0].elementsEqual(bytes[range]) }
            if !isNew { throw mistake("an object has two members of the same name") }
            if names == nil { ranges.append(range) }
            skipSpace()
            guard skip(":") else { throw mistake("a colon is missing") }
            skipSpace()
            try checkValue()
            skipSpace()
            if skip("}") { return }
            guard skip(",") else { throw mistake("a comma or the end of an object is missing") }
            skipSpace()
        }
    }

    private mutating func checkWord(_ word: StaticString) throws(JSONText.Mistake) {
        let count = word.utf8CodeUnitCount
        guard position + count <= bytes.count,
            (0..<count).allSatisfy({ bytes[position + $0] == word.utf8Start[$0] })
        else { throw mistake("no value is written like this") }
        position += count
    }

    private mutating func checkNumber() throws(JSONText.Mistake) {
        _ = skip("-")
        let isZero = skip("0")
        if !isZero, digits() == 0 { throw mistake("no value is written like this") }
        if isZero, digits() > 0 { throw mistake("a number begins with 0") }
        if skip("."), digits() == 0 { throw mistake("a digit is missing") }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            if digits() == 0 { throw mistake("a digit is missing") }
        }
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        return position - start
    }

    /// Checks a string, and returns whether there are escapes in it.
    private mutating func checkString() throws(JSONText.Mistake) -> Bool {
        guard skip("\"") else { throw mistake("a string is missing") }
        let start = position
        var (all, hasEscapes) = (UInt8(0), false)
        while true {
            var end = position
            while end < bytes.count, Self.standsForItself(bytes[end]) {
                all |= bytes[end]
                end += 1
            }
            position = end
            guard let byte = next else { throw mistake("a string is not closed") }
            if byte == UInt8(ascii: "\"") { break }
            if byte < 0x20 { throw mistake("a control character stands in a string") }
            position += 1
            hasEscapes = true
            try checkEscape()
        }
        if all >= 0x80, String(validating: bytes[start..<position], as: UTF8.self) == nil {
            throw mistake("a string is not valid UTF-8")
        }
        position += 1
        return hasEscapes
    }

    private static func standsForItself(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func checkEscape() throws(JSONText.Mistake) {
        switch next {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            guard let unit = Self.unit(bytes, at: position + 1) else { throw mistake("an escape is not complete") }
            position += 5
            if (0xDC00..<0xE000).contains(unit) { throw mistake("half of a surrogate pair stands alone") }
            guard (0xD800..<0xDC00).contains(unit) else { return }
            guard skip("\\"), skip("u"), let second = Self.unit(bytes, at: position),
                (0xDC00..<0xE000).contains(second)
            else { throw mistake("half of a surrogate pair stands alone") }
            position += 4
        default: throw mistake("there is no such escape")
        }
    }

    // MARK: Checked bytes

    /// Returns the number that four hexadecimal digits make; nil if there are none.
    private static func unit(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        var unit: UInt32 = 0
        for byte in bytes[position..<(position + 4)] {
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x41...0x46: digit = byte - 0x37
            case 0x61...0x66: digit = byte - 0x57
            default: return nil
            }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Returns the bytes of a string that stands, with its quotes, in a range. Names differ if their bytes do, also where
    /// Swift takes two texts for equal.
    private static func name(in bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> [UInt8] {
        Array(string(in: bytes, range).utf8)
    }

    /// Returns the text of a string that stands, with its quotes, in a range.
    static func string(in bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> String {
        let inner = bytes[(range.lowerBound + 1)..<(range.upperBound - 1)]
        guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
        var text: [UInt8] = []
        text.reserveCapacity(inner.count)
        var position = inner.startIndex
        while position < inner.endIndex {
            let byte = bytes[position]
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            let escape = bytes[position]
            position += 1
            switch escape {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                var scalar = unit(bytes, at: position) ?? 0xFFFD
                position += 4
                if (0xD800..<0xDC00).contains(scalar), let second = unit(bytes, at: position + 2) {
                    scalar = 0x10000 + (scalar - 0xD800) << 10 + (second &- 0xDC00)
                    position += 6
                }
                text += String(Unicode.Scalar(scalar).map(Character.init) ?? "\u{FFFD}").utf8
            default: text.append(escape)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the end of the value that begins at a position.
    private static func end(ofValueAt start: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var (position, depth) = (start, 0)
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position = end(ofStringAt: position, bytes)
                if depth == 0 { return position }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return position }
                depth -= 1
                position += 1
                if depth == 0 { return position }
            case UInt8(ascii: ","), 0x20, 0x0A, 0x0D, 0x09:
                if depth == 0 { return position }
                position += 1
            default: position += 1
            }
        }
        return position
    }

    private static func end(ofStringAt start: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var position = start + 1
        while bytes[position] != UInt8(ascii: "\"") { position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1 }
        return position + 1
    }

    /// Returns the end of the string that begins at a position.
    static func end(ofStringAt start: Int, in bytes: [UInt8]) -> Int {
        bytes.withUnsafeBufferPointer { end(ofStringAt: start, $0) }
    }

    /// Returns the position of the first byte from a position on that is no space.
    static func skippingSpace(_ start: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var position = start
        while bytes[position] <= 0x20 { position += 1 }
        return position
    }

    /// Calls `body` with the ranges of the name, with its quotes, and of the value of each member, until it returns false.
    static func eachMember(
        of bytes: UnsafeBufferPointer<UInt8>, _ body: (_ name: Range<Int>, _ value: Range<Int>) -> Bool
    ) {
        guard bytes.first == UInt8(ascii: "{") else { return }
        var position = skippingSpace(1, bytes)
        while bytes[position] != UInt8(ascii: "}") {
            let name = position..<end(ofStringAt: position, bytes)
            // The colon follows, perhaps after some space.
            let start = skippingSpace(skippingSpace(name.upperBound, bytes) + 1, bytes)
            let value = start..<end(ofValueAt: start, bytes)
            if !body(name, value) { return }
            position = skippingSpace(value.upperBound, bytes)
            if bytes[position] == UInt8(ascii: ",") { position = skippingSpace(position + 1, bytes) }
        }
    }

    /// Calls `body` with the range of each item of a list.
    static func eachItem(of bytes: UnsafeBufferPointer<UInt8>, _ body: (Range<Int>) -> Void) {
        guard bytes.first == UInt8(ascii: "[") else { return }
        var position = skippingSpace(1, bytes)
        while bytes[position] != UInt8(ascii: "]") {
            let item = position..<end(ofValueAt: position, bytes)
            body(item)
            position = skippingSpace(item.upperBound, bytes)
            if bytes[position] == UInt8(ascii: ",") { position = skippingSpace(position + 1, bytes) }
        }
    }

    /// Returns the ranges of the name and the value of a member; nil if there is none.
    static func member(
        _ wanted: String, of bytes: UnsafeBufferPointer<UInt8>
    ) -> (name: Range<Int>, value: Range<Int>)? {
        var found: (name: Range<Int>, value: Range<Int>)?
        eachMember(of: bytes) { name, value in
            let isWanted = isName(wanted, at: name, bytes)
            if isWanted { found = (name, value) }
            return !isWanted
        }
        return found
    }

    /// Returns whether the string that stands, with its quotes, in a range is a name.
    static func isName(_ wanted: String, at range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let inner = bytes[(range.lowerBound + 1)..<(range.upperBound - 1)]
        return inner.contains(UInt8(ascii: "\\"))
            ? string(in: bytes, range).utf8.elementsEqual(wanted.utf8) : inner.elementsEqual(wanted.utf8)
    }
}
