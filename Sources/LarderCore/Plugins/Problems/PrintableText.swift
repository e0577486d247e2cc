/// `1 error`, `2 errors`.
package func counted(_ count: Int, one: String, many: String? = nil) -> String {
    "\(count) \(count == 1 ? one : many ?? one + "s")"
}

extension String {
    /// The text without characters that move a terminal's cursor or break a line.
    package var printable: String {
        var text = ""
        for scalar in unicodeScalars.prefix(200) {
            text.unicodeScalars.append(scalar.isPrintable ? scalar : "\u{FFFD}")
        }
        return text
    }

    /// The text, followed by spaces up to `width`.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    /// The text, after spaces up to `width`.
    package func aligned(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}

extension Unicode.Scalar {
    /// Whether the character is neither a control character nor one that moves the text around it.
    package var isPrintable: Bool {
        ![.control, .format, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
    }
}
