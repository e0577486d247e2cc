import LarderCore

/// Finds secrets that stand in a policy itself, where everyone who has the policy can read them.
enum LiteralSecret {
    private static let words = [
        "authorization", "cookie", "token", "apikey", "accesskey", "secret", "password", "passwd", "credential",
    ]

    /// Whether the values of a field or parameter of this name are secrets.
    static func isSecret(_ name: some StringProtocol) -> Bool {
        let name = name.lowercased().filter { $0 != "-" && $0 != "_" }
        return words.contains { name.contains($0) }
    }

    /// Whether the value of a secret field stands in the policy, wholly or as a default. The word for its scheme is no
    /// secret.
    static func stands(in node: Node) -> Bool {
        if let written = node.written { return defaults(of: written).contains { !$0.isEmpty } }
        let text = node.string ?? ""
        return !text.replacing(/^\s*(?i:bearer|basic|token|apikey)?\s*$/, with: "").isEmpty
    }

    /// Returns the first parameter in the query of a URL whose secret value stands in the policy; nil if there is none.
    static func queryName(in node: Node) -> Substring? {
        let text = (node.written ?? node.string ?? "").replacing(reference) { $0.1 ?? "" }
        return text.matches(of: /[?&]([^=&{}#]+)=[^&#{]/).lazy.map(\.1).first { isSecret($0) }
    }

    /// Warns of a secret.
    static func report(_ place: String, at position: SourcePosition, _ reading: PolicyDiagnostics) {
        reading.report(
            "the value of \(place) is a secret, and everyone who has the policy can read it", .warning, at: position,
            expected: "a value from the environment, such as \"${TOKEN}\"")
    }

    /// A reference to the environment, and its default.
    private static var reference: Regex<(Substring, Substring?)> { /\$\{\w*(?::-([^}]*))?\}/ }

    private static func defaults(of text: String) -> [Substring] { text.matches(of: reference).compactMap(\.1) }
}
