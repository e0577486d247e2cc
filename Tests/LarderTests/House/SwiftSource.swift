import LarderFoundation

/// A Swift source file, as the checks of the house rules see it.
struct SwiftSource: Sendable {
    /// The path below the folder that was read: `Graph/OriginSide.swift`.
    let path: String
    /// The text as it is.
    let text: String
    /// The text without comments and what stands in string literals, line by line. What strings interpolate stays.
    let code: [String]
    /// The words of the code, and the lines they stand on, from 1.
    let words: [(word: String, line: Int)]
    /// The contents of the string literals, without what they interpolate, and the lines they end on, from 1.
    let literals: [(text: String, line: Int)]
    private let vocabulary: Set<String>

    init(_ path: String, _ text: String) {
        self.path = path
        self.text = text
        var reader = Reader(Array(text.utf8))
        reader.code(untilParenthesis: false)
        literals = reader.literals
        let bare = String(decoding: reader.result, as: UTF8.self)
        code = bare.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        words = code.enumerated().flatMap { line in Self.words(of: line.element).map { ($0, line.offset + 1) } }
        vocabulary = Set(words.map(\.word))
    }

    /// The numbers of the lines, from 1, that hold `phrase` and not as part of a longer word.
    func lines(with phrase: String) -> [Int] {
        guard vocabulary.isSuperset(of: Self.words(of: phrase)) else { return [] }
        return code.enumerated().compactMap { Self.holds($0.element, phrase) ? $0.offset + 1 : nil }
    }

    private static func holds(_ line: String, _ phrase: String) -> Bool {
        let bytes = Array(line.utf8)
        let wanted = Array(phrase.utf8)
        guard bytes.count >= wanted.count, let first = wanted.first, let last = wanted.last else { return false }
        return (0...bytes.count - wanted.count).contains { start in
            guard bytes[start] == first, bytes[start..<start + wanted.count].elementsEqual(wanted) else { return false }
            let end = start + wanted.count
            return !(isLetter(first) && start > 0 && isLetter(bytes[start - 1]))
                && !(isLetter(last) && end < bytes.count && isLetter(bytes[end]))
        }
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 128...255:
            true
        default: false
        }
    }

    /// Every Swift file below a folder.
    static func all(below folder: URL) throws -> [SwiftSource] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try paths.sorted().map { path in
            let bytes = try Data(contentsOf: folder.appending(path: path))
            return SwiftSource(path, String(decoding: bytes, as: UTF8.self))
        }
    }

    /// The first folder of the path; empty for a file that lies in none.
    var folder: String {
        let steps = path.split(separator: "/")
        return steps.count > 1 ? String(steps[0]) : ""
    }

    private static let kinds: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]

    /// The types declared outside everything else that other files can see.
    var types: [String] {
        var depth = 0
        var names: [String] = []
        for line in code {
            if depth == 0 {
                let words = Self.words(of: line)
                let kind = words.contains("import") ? nil : words.firstIndex { Self.kinds.contains($0) }
                if let kind, kind + 1 < words.count, !words[..<kind].contains(where: { $0.hasSuffix("private") }) {
                    names.append(words[kind + 1])
                }
            }
            depth += line.utf8.reduce(0) { $1 == UInt8(ascii: "{") ? $0 + 1 : $1 == UInt8(ascii: "}") ? $0 - 1 : $0 }
        }
        return names
    }

    /// The static members that this file adds to `type`.
    func members(of type: String) -> [String] {
        var isInside = false
        var names: [String] = []
        for line in code {
            if line.hasPrefix("}") { isInside = false }
            let words = Self.words(of: line)
            if isInside, line.hasPrefix("    "), !line.hasPrefix("     "), let place = words.firstIndex(of: "static") {
                names.append(words[place + 2])
            }
            if line.hasSuffix("{"), words.starts(with: ["extension", type]), words.count == 2 { isInside = true }
        }
        return names
    }

    static func words(of line: some StringProtocol) -> [String] {
        line.utf8.split { !isLetter($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Takes the text apart into code, without comments and the contents of strings, and those contents. Lines stay lines.
    private struct Reader {
        let bytes: [UInt8]
        var place = 0
        var result: [UInt8] = []
        var literals: [(text: String, line: Int)] = []

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func sees(_ text: String) -> Bool {
            let wanted = text.utf8
            return place + wanted.count <= bytes.count && bytes[place..<place + wanted.count].elementsEqual(wanted)
        }

        /// Passes over a byte; only the ends of lines are kept.
        mutating func skip(_ count: Int = 1) {
            for _ in 0..<count where place < bytes.count {
                if bytes[place] == UInt8(ascii: "\n") { result.append(bytes[place]) }
                place += 1
            }
        }

        mutating func code(untilParenthesis: Bool) {
            var depth = 0
            while place < bytes.count {
                if sees("//") {
                    while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { skip() }
                } else if sees("/*") {
                    comment()
                } else if let hashes = stringStart() {
                    string(hashes)
                } else {
                    if bytes[place] == UInt8(ascii: "(") { depth += 1 }
                    if bytes[place] == UInt8(ascii: ")") {
                        if untilParenthesis, depth == 0 { return }
                        depth -= 1
                    }
                    result.append(bytes[place])
                    place += 1
                }
            }
        }

        mutating func comment() {
            var depth = 0
            repeat {
                if sees("/*") {
                    depth += 1
                    skip(2)
                } else if sees("*/") {
                    depth -= 1
                    skip(2)
                } else {
                    skip()
                }
            } while depth > 0 && place < bytes.count
        }

        /// How many `#` stand before a quotation mark here; nil when no string begins here.
        func stringStart() -> Int? {
            var hashes = 0
            while place + hashes < bytes.count, bytes[place + hashes] == UInt8(ascii: "#") { hashes += 1 }
            guard place + hashes < bytes.count, bytes[place + hashes] == UInt8(ascii: "\"") else { return nil }
            return hashes
        }

        mutating func string(_ hashes: Int) {
            let marks = String(repeating: "#", count: hashes)
            skip(hashes)
            let quote = sees("\"\"\"") ? "\"\"\"" : "\""
            skip(quote.utf8.count)
            result += Array("\"\"".utf8)
            var content: [UInt8] = []
            while place < bytes.count {
                if sees(quote + marks) {
                    let line = result.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
                    literals.append((String(decoding: content, as: UTF8.self), line))
                    skip(quote.utf8.count + hashes)
                    return
                }
                if sees("\\" + marks + "(") {
                    skip(2 + hashes)
                    result.append(UInt8(ascii: " "))
                    code(untilParenthesis: true)
                    result.append(UInt8(ascii: " "))
                    skip()
                } else if sees("\\" + marks) {
                    skip(2 + hashes)
                } else {
                    content.append(bytes[place])
                    skip()
                }
            }
        }
    }
}
