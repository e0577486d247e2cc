/// The text of a file, with the name of the file for messages.
package final class SourceText: Sendable {
    /// The name in messages: the path that the caller gave.
    package let name: String
    /// The bytes of the text.
    package let bytes: [UInt8]

    /// Creates a text called `name`.
    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// A position in a source text.
public struct SourcePosition: Sendable {
    /// The text.
    package var source: SourceText
    /// The offset from the start of the text, in bytes.
    package var offset: Int

    /// Creates a position in `source`.
    package init(_ source: SourceText, offset: Int) {
        self.source = source
        self.offset = offset
    }

    static func == (one: SourcePosition, other: SourcePosition) -> Bool {
        one.source === other.source && one.offset == other.offset
    }

    /// The number of the line, from 1.
    package var line: Int {
        source.bytes.prefix(offset).reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    }

    /// The number of the column in characters, from 1.
    package var column: Int {
        let start = source.bytes.prefix(offset).lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return String(decoding: source.bytes[start..<min(offset, source.bytes.count)], as: UTF8.self).count + 1
    }

    /// The text of the line, without the line break.
    package var lineText: String {
        let start = source.bytes.prefix(offset).lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let end = source.bytes[start...].firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        return String(decoding: source.bytes[start..<(end ?? source.bytes.count)], as: UTF8.self)
    }
}
