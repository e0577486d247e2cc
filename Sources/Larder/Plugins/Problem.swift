/// Something wrong with a policy, and where.
public struct Problem: Error, Sendable, CustomStringConvertible {
    /// How bad it is.
    public enum Severity: String, Sendable {
        /// The policy cannot be used.
        case error
        /// The policy can be used; something in it may not do what its author thinks.
        case warning
    }

    /// How bad it is.
    public var severity: Severity
    /// What is wrong. Text from the policy appears in it only as the names of settings and plugins.
    public var message: String
    /// What should stand there, where that is not said yet.
    public var expected: String?
    /// A name that was perhaps meant.
    public var suggestion: String?
    /// The JSON path: `$.strategy.patience`.
    public var path: String
    /// The name of the lint rule that found it, if it was one.
    public var rule: String?
    /// Where it stands; nil when the file could not be read at all.
    public var place: Place?
    /// The file it is about.
    public var file: String
    /// The plugin that is named and not registered, if that is what is wrong.
    package var unknown: UnknownPlugin?

    /// The kind and name of a plugin that is not registered.
    package struct UnknownPlugin: Hashable, Sendable {
        package let kind: PluginKind
        package let name: String
    }

    /// A problem at `place` in its file.
    public init(
        _ message: String, _ severity: Severity = .error, file: String, at place: Place? = nil, path: String = "$",
        expected: String? = nil, suggestion: String? = nil, rule: String? = nil
    ) {
        self.severity = severity
        self.message = message
        self.file = place?.source.name ?? file
        self.place = place
        self.path = path
        self.expected = expected
        self.suggestion = suggestion
        self.rule = rule
    }

    /// One line: `Policies/feed.json:12:18: error: unknown setting 'patiense' (did you mean 'patience'?)`.
    public var description: String {
        var text = file
        if let place { text += ":\(place.line):\(place.column)" }
        text += ": \(severity.rawValue): \(message)"
        if let expected { text += "; expected \(expected)" }
        if let suggestion { text += " (did you mean '\(suggestion)'?)" }
        if path != "$" { text += " [at \(path)]" }
        return text.withoutControls
    }

    /// The line of ``description``, then the line of the file and a mark under the place.
    public var withSource: String {
        guard let place, !place.lineText.isEmpty else { return description }
        let number = "\(place.line)"
        let line = place.lineText.prefix(200).map { $0.isWhitespace || $0.isControl ? " " : $0 }
        let margin = String(repeating: " ", count: number.count)
        let mark = String(repeating: " ", count: min(place.column - 1, 200)) + "^"
        return "\(description)\n  \(number) | \(String(line))\n  \(margin) | \(mark)"
    }

    /// The problem for a program to read.
    public var json: JSON {
        func text(_ value: String?) -> JSON { value.map(JSON.string) ?? .null }
        return [
            "severity": .string(severity.rawValue), "file": .string(file),
            "line": place.map { .int($0.line) } ?? .null, "column": place.map { .int($0.column) } ?? .null,
            "path": .string(path), "message": .string(message), "expected": text(expected),
            "suggestion": text(suggestion), "rule": text(rule),
        ]
    }
}

extension Character {
    /// Whether it moves the cursor, or worse, where it is printed.
    fileprivate var isControl: Bool {
        unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: true
            default: scalar.properties.isBidiControl
            }
        }
    }
}

extension String {
    /// The text on one line, whatever a file's author called things.
    package var withoutControls: String {
        guard contains(where: \.isControl) else { return self }
        return map { character in
            guard character.isControl else { return String(character) }
            return character.unicodeScalars.map { "\\u{\(String($0.value, radix: 16))}" }.joined()
        }.joined()
    }
}

/// A set of policies that cannot be used, with everything that is wrong with it.
public struct PolicyError: Error, Sendable, CustomStringConvertible {
    /// The problems, in the order in which they stand.
    public var problems: [Problem]

    /// The failure that `problems` make.
    public init(_ problems: [Problem]) {
        self.problems = problems
    }

    /// The problems, each on a line of its own.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// The name among `known` that `name` was perhaps meant to be: at most two letters, or a third of it, away.
func nearest(to name: String, among known: [String]) -> String? {
    guard name.utf8.count <= 64 else { return nil }
    let ranked = known.map { ($0, distance(Array(name.lowercased()), Array($0.lowercased()))) }
    guard let best = ranked.min(by: { $0.1 < $1.1 }), best.1 <= max(2, best.0.count / 3), best.1 < best.0.count else {
        return nil
    }
    return best.0
}

/// How many letters must be added, removed, changed or swapped with their neighbour to make one word the other.
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
