import Larder

/// A piece of a page. Only literals can be markup. Any text that is inserted into a literal is escaped.
struct Markup: ExpressibleByStringInterpolation, Sendable {
    private(set) var html: String

    init(stringLiteral html: String) { self.html = html }
    init(stringInterpolation: Interpolation) { html = stringInterpolation.html }

    /// Creates a piece from text, which is escaped.
    init(_ text: String) { html = text.inert }

    /// Joins pieces.
    init(_ pieces: some Sequence<Markup>, separator: String = "\n") {
        html = pieces.map(\.html).joined(separator: separator)
    }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var html = ""

        init(literalCapacity: Int, interpolationCount: Int) { html.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { html += literal }
        mutating func appendInterpolation(_ text: String) { html += text.inert }
        mutating func appendInterpolation(_ number: Int) { html += String(number) }
        mutating func appendInterpolation(_ piece: Markup) { html += piece.html }
        /// Inserts a coordinate, rounded to hundredths.
        mutating func appendInterpolation(_ number: Double) { html += number.coordinate }
    }
}

extension String {
    /// The text, escaped for any place in a page, between tags or in quotes. Characters that move the text around them are
    /// removed.
    var inert: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            default: text.unicodeScalars.append(scalar.isPrintable ? scalar : "\u{FFFD}")
            }
        }
        return text
    }
}

extension Double {
    /// The number as a coordinate: `12.5`.
    var coordinate: String {
        let hundredths = (self * 100).rounded() / 100
        return hundredths == hundredths.rounded() ? String(Int(hundredths)) : String(hundredths)
    }
}
