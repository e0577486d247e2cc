public import LarderFoundation

/// The settings of an app's JSON: dates, names of keys and the other settings of Foundation's coders.
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
/// A format is a type and not a value. So two codecs with the same format are equal, and return the same values.
/// ``configure(_:)-(JSONDecoder)`` is called for each decoding, possibly on several threads at once. It must make the
/// same settings each time.
public protocol JSONFormat: SendableMetatype {
    /// Configures a new decoder for the app's JSON.
    static func configure(_ decoder: JSONDecoder)

    /// Configures a new encoder in the same way, for origins that return values. Does nothing by default.
    static func configure(_ encoder: JSONEncoder)
}

extension JSONFormat {
    /// Does nothing.
    public static func configure(_ encoder: JSONEncoder) {}
}

/// Measures how deep brackets are nested in JSON. Brackets in strings and comments do not count.
struct JSONDepth {
    private enum State {
        case outside
        case string(quote: UInt8, isEscaped: Bool)
        /// The last byte was `/`, which may begin a comment.
        case slash
        case lineComment
        case blockComment(afterStar: Bool)
    }

    private var state = State.outside
    private var depth = 0
    private(set) var deepest = 0
    /// Whether the text may contain comments and strings in single quotes.
    private let isJSON5: Bool

    /// Measures the depth of `bytes`. For malformed text the result may be any number, but there is no trap.
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
