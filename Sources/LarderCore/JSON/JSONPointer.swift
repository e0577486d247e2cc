/// A place in a JSON value, as RFC 6901 writes it: `/shop/name`. The empty text is the whole value.
public struct JSONPointer: Sendable, Hashable {
    /// The names of members, and the numbers of items, that lead to the place.
    public let steps: [String]

    /// Creates a pointer from names.
    public init(steps: [String]) { self.steps = steps }

    /// Reads a pointer. Returns nil if the text is none: it does not begin with `/`, or `~` is followed by neither `0` nor
    /// `1`.
    public init?(_ text: String) {
        if text.isEmpty {
            steps = []
            return
        }
        guard text.hasPrefix("/") else { return nil }
        var steps: [String] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            var step = ""
            var isEscaped = false
            for character in part.unicodeScalars {
                if isEscaped {
                    guard character == "0" || character == "1" else { return nil }
                    step.unicodeScalars.append(character == "0" ? "~" : "/")
                    isEscaped = false
                } else if character == "~" {
                    isEscaped = true
                } else {
                    step.unicodeScalars.append(character)
                }
            }
            if isEscaped { return nil }
            steps.append(step)
        }
        self.steps = steps
    }

    /// Returns the number of an item that a step names; nil if the step is no number of an item.
    static func place(_ step: String) -> Int? {
        guard !step.isEmpty, step.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return step.utf8.count > 1 && step.hasPrefix("0") ? nil : Int(step)
    }
}

extension JSONPointer: CustomStringConvertible {
    /// The pointer as RFC 6901 writes it.
    public var description: String {
        steps.map { step in
            var text = "/"
            for character in step.unicodeScalars {
                switch character {
                case "~": text += "~0"
                case "/": text += "~1"
                default: text.unicodeScalars.append(character)
                }
            }
            return text
        }.joined()
    }
}
