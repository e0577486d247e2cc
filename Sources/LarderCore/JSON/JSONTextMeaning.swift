extension JSONText {
    /// Returns whether two texts mean the same: the order of members, space, escapes and the notation of numbers do not
    /// matter.
    public func means(_ other: JSONText) -> Bool { bytes == other.bytes || canonical == other.canonical }

    /// The one form of all texts that mean the same: members in the order of their names, no space, and each number as its
    /// digits and a power of ten.
    public var canonical: [UInt8] {
        bytes.withUnsafeBufferPointer { buffer in
            var output: [UInt8] = []
            output.reserveCapacity(buffer.count)
            Self.writeCanonical(buffer, to: &output)
            return output
        }
    }

    private static func writeCanonical(_ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        func write(_ range: Range<Int>) { writeCanonical(UnsafeBufferPointer(rebasing: bytes[range]), to: &output) }
        switch bytes.first {
        case UInt8(ascii: "{"):
            var members: [(name: [UInt8], value: Range<Int>)] = []
            JSONScanner.eachMember(of: bytes) { name, value in
                members.append((Array(JSONScanner.string(in: bytes, name).utf8), value))
                return true
            }
            members.sort { $0.name.lexicographicallyPrecedes($1.name) }
            output.append(UInt8(ascii: "{"))
            for (place, member) in members.enumerated() {
                if place > 0 { output.append(UInt8(ascii: ",")) }
                output += JSONText(string: String(decoding: member.name, as: UTF8.self)).bytes
                output.append(UInt8(ascii: ":"))
                write(member.value)
            }
            output.append(UInt8(ascii: "}"))
        case UInt8(ascii: "["):
            output.append(UInt8(ascii: "["))
            var isFirst = true
            JSONScanner.eachItem(of: bytes) { item in
                if !isFirst { output.append(UInt8(ascii: ",")) }
                isFirst = false
                write(item)
            }
            output.append(UInt8(ascii: "]"))
        case UInt8(ascii: "\""):
            // Plain ASCII without escapes is written in one way only.
            let isPlain = bytes.allSatisfy { $0 < 0x7F && $0 != UInt8(ascii: "\\") }
            if isPlain {
                output += bytes
            } else {
                output += JSONText(string: JSONScanner.string(in: bytes, 0..<bytes.count)).bytes
            }
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): output += bytes
        default: writeCanonicalNumber(bytes, to: &output)
        }
    }

    private static func writeCanonicalNumber(_ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        var text = bytes[...]
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative { text.removeFirst() }
        let mark = text.firstIndex { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") } ?? text.endIndex
        let written = String(decoding: text[min(mark + 1, text.endIndex)...], as: UTF8.self)
        let point = text[..<mark].firstIndex(of: UInt8(ascii: ".")) ?? mark
        var digits = Array(text[..<point]) + Array(text[min(point + 1, mark)..<mark])
        if digits.allSatisfy({ $0 == UInt8(ascii: "0") }) {
            output.append(UInt8(ascii: "0"))
            return
        }
        // An exponent of more digits than these is compared as it is written.
        guard var exponent = written.isEmpty ? 0 : Int(written), exponent.magnitude < 1 << 40 else {
            output += bytes
            return
        }
        exponent -= max(0, mark - point - 1)
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        if isNegative { output.append(UInt8(ascii: "-")) }
        output += digits.drop { $0 == UInt8(ascii: "0") }
        if exponent != 0 { output += Array("e\(exponent)".utf8) }
    }
}
