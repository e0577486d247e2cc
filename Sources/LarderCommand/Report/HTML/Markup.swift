/// A piece of a page. Only literals bear markup: whatever text is put into one is made inert.
struct Markup: ExpressibleByStringInterpolation, Sendable {
    private(set) var html: String

    init(stringLiteral html: String) { self.html = html }
    init(stringInterpolation: Interpolation) { html = stringInterpolation.html }

    /// Text that is no markup.
    init(_ text: String) { html = text.inert }

    /// Pieces one after the other.
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
        /// A coordinate, to a hundredth.
        mutating func appendInterpolation(_ number: Double) { html += number.coordinate }
    }
}

extension String {
    /// The text for anywhere in a page, between tags or in quotes: nothing in it is markup, and no character of it moves
    /// the text around it.
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
    /// As a coordinate is written: `12.5`.
    var coordinate: String {
        let hundredths = (self * 100).rounded() / 100
        return hundredths == hundredths.rounded() ? String(Int(hundredths)) : String(hundredths)
    }
}
