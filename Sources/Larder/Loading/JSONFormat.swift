#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How an app writes its JSON: dates, names of keys and whatever else Foundation's coders can be told.
///
/// ```swift
/// enum ServiceJSON: JSONFormat {
///     static func configure(_ decoder: JSONDecoder) {
///         decoder.dateDecodingStrategy = .iso8601
///         decoder.keyDecodingStrategy = .convertFromSnakeCase
///     }
/// }
///
/// let prices = pantry.resource("prices", codec: JSONCodec<Price>(format: ServiceJSON.self))
/// ```
///
/// A format is a type and not a value, so that two codecs of one format are equal and always give the same values:
/// ``configure(_:)-(JSONDecoder)`` is called for each decoding, possibly on several threads at once, and must set the same
/// each time.
public protocol JSONFormat: SendableMetatype {
    /// Sets what the app's JSON needs on a new decoder.
    static func configure(_ decoder: JSONDecoder)

    /// Sets the same on a new encoder, for origins that return values; nothing by default.
    static func configure(_ encoder: JSONEncoder)
}

extension JSONFormat {
    /// Nothing.
    public static func configure(_ encoder: JSONEncoder) {}
}

/// Counts how deep brackets nest in JSON, those in strings and comments aside.
struct JSONDepth {
    private enum State {
        case outside
        case string(quote: UInt8, isEscaped: Bool)
        /// After one `/`.
        case slash
        case lineComment
        case blockComment(afterStar: Bool)
    }

    private var state = State.outside
    private var depth = 0
    private(set) var deepest = 0
    /// Whether there are comments and strings in single quotes.
    private let isJSON5: Bool

    /// The count for all of `bytes`. Malformed text gives some number, never a trap.
    init(of bytes: Data, isJSON5: Bool) {
        self.isJSON5 = isJSON5
        bytes.withUnsafeBytes { (buffer: UnsafeRawBufferPointer) in
            for byte in buffer { read(byte) }
        }
    }

    @inline(__always)
    private mutating func read(_ byte: UInt8) {
        switch state {
        case .outside: readOutside(byte)
        case .string(let quote, let isEscaped):
            if isEscaped {
                state = .string(quote: quote, isEscaped: false)
            } else if byte == UInt8(ascii: "\\") {
                state = .string(quote: quote, isEscaped: true)
            } else if byte == quote {
                state = .outside
            }
        case .slash:
            switch byte {
            case UInt8(ascii: "/"): state = .lineComment
            case UInt8(ascii: "*"): state = .blockComment(afterStar: false)
            default:
                state = .outside
                readOutside(byte)
            }
        case .lineComment:
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { state = .outside }
        case .blockComment(let afterStar):
            let ends = afterStar && byte == UInt8(ascii: "/")
            state = ends ? .outside : .blockComment(afterStar: byte == UInt8(ascii: "*"))
        }
    }

    @inline(__always)
    private mutating func readOutside(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): state = .string(quote: byte, isEscaped: false)
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            depth += 1
            deepest = max(deepest, depth)
        case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
        case UInt8(ascii: "'") where isJSON5: state = .string(quote: byte, isEscaped: false)
        case UInt8(ascii: "/") where isJSON5: state = .slash
        default: break
        }
    }
}
