/// A mistake in a policy, with its position.
public struct Problem: Error, Sendable, CustomStringConvertible {
    /// The severity of a problem.
    public enum Severity: String, Sendable {
        /// The policy cannot be used.
        case error
        /// The policy can be used, but something in it may not work as its author expects.
        case warning
    }

    /// The severity.
    public var severity: Severity
    /// The description of the mistake. It quotes nothing from the policy but the names of settings and plugins.
    public var message: String
    /// The expected content, unless the message already says it.
    package var expected: String?
    /// A known name that the author probably meant.
    package var suggestion: String?
    /// The JSON path: `$.strategy.patience`.
    public var path: String
    /// The name of the lint rule that found the problem; nil if no rule did.
    public var rule: String?
    /// The position in the file; nil if the file could not be read at all.
    package var position: SourcePosition?
    /// The name of the file.
    public var file: String
    /// The plugin that is named but not registered. Nil if the problem is another one.
    package var unknown: UnknownPlugin?
    /// The extended file that cannot be read. Nil if the problem is another one.
    var extended: String?

    /// The rule of a value that is secret, and is not printed.
    static let secretRule = "secret"

    /// A problem at `position` in its file.
    package init(
        _ message: String, _ severity: Severity = .error, file: String, at position: SourcePosition? = nil,
        path: String = "$",
        expected: String? = nil, suggestion: String? = nil, rule: String? = nil
    ) {
        self.severity = severity
        self.message = message
        self.file = position?.source.name ?? file
        self.position = position
        self.path = path
        self.expected = expected
        self.suggestion = suggestion
        self.rule = rule
    }

    /// Makes a problem from a mistake in the syntax of a file.
    package init(_ error: JSONError) {
        self.init(error.message, file: error.position.source.name, at: error.position, expected: error.expected)
    }

    /// One line: `Policies/feed.json:12:18: error: unknown setting 'patiense' (did you mean 'patience'?)`.
    public var description: String {
        var text = file
        if let position { text += ":\(position.line):\(position.column)" }
        text += ": \(severity.rawValue): \(message)"
        if let expected { text += "; expected \(expected)" }
        if let suggestion { text += " (did you mean '\(suggestion)'?)" }
        if path != "$" { text += " [at \(path)]" }
        return text.withoutControls
    }

    /// The line of ``description``, then the line of the file and a mark under the position. A line with a secret is left
    /// out.
    package var withSource: String {
        guard let position, !position.lineText.isEmpty, rule != Self.secretRule else { return description }
        let number = "\(position.line)"
        let line = position.lineText.prefix(200).map { $0.isWhitespace || $0.isControl ? " " : $0 }
        let margin = String(repeating: " ", count: number.count)
        let mark = String(repeating: " ", count: min(position.column - 1, 200)) + "^"
        return "\(description)\n  \(number) | \(String(line))\n  \(margin) | \(mark)"
    }

    /// The problem as JSON.
    package var json: JSON {
        func text(_ value: String?) -> JSON { value.map(JSON.string) ?? .null }
        return [
            "severity": .string(severity.rawValue), "file": .string(file),
            "line": position.map { .int($0.line) } ?? .null, "column": position.map { .int($0.column) } ?? .null,
            "path": .string(path), "message": .string(message), "expected": text(expected),
            "suggestion": text(suggestion), "rule": text(rule),
        ]
    }
}

extension Unicode.Scalar {
    /// Whether the character moves the cursor or changes the direction of text when it is printed.
    package var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension Character {
    /// Whether the character moves the cursor or changes the direction of text when it is printed.
    fileprivate var isControl: Bool { unicodeScalars.contains(where: \.isControl) }
}

extension String {
    /// The text on one line: control characters are written as `\u{…}`.
    package var withoutControls: String {
        guard contains(where: \.isControl) else { return self }
        return map { character in
            guard character.isControl else { return String(character) }
            return character.unicodeScalars.map(\.escape).joined()
        }.joined()
    }

    /// The text with its line ends and tabs, and with other control characters written as `\u{…}`.
    package var withoutControlsInLines: String {
        func isHarmful(_ scalar: Unicode.Scalar) -> Bool { scalar.isControl && scalar != "\n" && scalar != "\t" }
        guard unicodeScalars.contains(where: isHarmful) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if isHarmful(scalar) { text += scalar.escape } else { text.unicodeScalars.append(scalar) }
        }
    }
}

extension Unicode.Scalar {
    /// The character as `\u{1b}`.
    package var escape: String { "\\u{\(String(value, radix: 16))}" }
}

/// The error of policies that cannot be used, with all their problems.
public struct PolicyError: Error, Sendable, CustomStringConvertible {
    /// The problems, in the order of their positions.
    public var problems: [Problem]

    /// Makes the error of these problems.
    package init(_ problems: [Problem]) {
        self.problems = problems.withoutRepeats
    }

    /// The problems, each on a line of its own.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

extension [Problem] {
    /// The problems, each once. Every policy that extends a file has the problems of that file, or that it is missing.
    package var withoutRepeats: [Problem] {
        var seen: Set<[String]> = []
        return filter { problem in
            if let extended = problem.extended { return seen.insert([extended, problem.message]).inserted }
            return seen.insert(
                [problem.file, "\(problem.position?.offset ?? -1)", problem.path, problem.message]
            ).inserted
        }
    }
}

/// Returns the name among `known` that is closest to `name`: at most one letter different in up to 5 letters, two in up
/// to 8, and three in longer names. Returns nil if no name is that close.
package func closestName(to name: String, among known: [String]) -> String? {
    guard name.utf8.count <= 64 else { return nil }
    let word = name.lowercased()
    let ranked = known.map { ($0, distance(Array(word), Array($0.lowercased()))) }
    guard let best = ranked.min(by: { $0.1 < $1.1 }), best.1 < best.0.count else { return nil }
    let length = max(name.count, best.0.count)
    if best.1 > (length <= 5 ? 1 : length <= 8 ? 2 : 3) { return nil }
    // With another letter, a very short word is another word: 'rate' and 'race'.
    if length <= 4, name.count == best.0.count, Set(word) != Set(best.0.lowercased()) { return nil }
    return best.0
}

/// Returns how many letters must be added, removed, changed or swapped with a neighbour to turn one word into the
/// other.
private func distance(_ one: [Character], _ other: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...other.count)
    for (row, letter) in one.enumerated() {
        var current = [row + 1]
        for (column, candidate) in other.enumerated() {
            var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (letter == candidate ? 0 : 1))
            if row > 0, column > 0, letter == other[column - 1], one[row - 1] == candidate {
                cost = min(cost, beforeLast[column - 1] + 1)
            }
            current.append(cost)
        }
        beforeLast = last
        last = current
    }
    return last[other.count]
}
