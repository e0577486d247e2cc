import LarderFoundation
import LarderCore

/// Finds secrets that stand in a policy itself, where everyone who has the policy can read them.
enum LiteralSecret {
    private static let words = [
        "authorization", "cookie", "token", "apikey", "accesskey", "secret", "password", "passwd", "credential",
        "signature",
    ]

    /// Whether the values of a field or parameter of this name are secrets.
    static func isSecret(_ name: some StringProtocol) -> Bool {
        let name = name.lowercased().filter { $0 != "-" && $0 != "_" }
        return name == "sig" || words.contains { name.contains($0) }
    }

    /// Whether the value of a secret field stands in the policy, wholly or as a default. The word for its scheme is no
    /// secret.
    static func stands(in node: Node) -> Bool {
        if let written = node.written { return defaults(of: written).contains { !$0.isEmpty } }
        let text = node.string ?? ""
        return !text.replacing(/^\s*(?i:bearer|basic|token|apikey)?\s*$/, with: "").isEmpty
    }

    /// Whether the value of a field of any name looks like a secret.
    static func isObvious(_ node: Node) -> Bool {
        let text = literal(node)
        if hasKnownForm(text) || text.contains(/(?i:bearer)\s+(?=\S*\d)[\w.~+\/=-]{20,}/) { return true }
        guard let basic = text.wholeMatch(of: /\s*(?i:basic)\s+([A-Za-z0-9+\/]{6,}=*)\s*/)?.1 else { return false }
        // The scheme 'Basic' encodes a name and a password with a colon between them.
        return Data(base64Encoded: String(basic))?.contains(UInt8(ascii: ":")) == true
    }

    /// Returns the place of the first secret in a URL, in words; nil if there is none.
    static func place(in node: Node) -> String? {
        let text = literal(node)
        // Most URLs have no parameter, and this is found out faster.
        let parameters = text.contains("=") ? text.matches(of: /[?&]([^=&{}#]+)=([^&#{]+)/) : []
        if let name = parameters.first(where: { isSecret($0.1) || hasKnownForm($0.2) })?.1 {
            return "the value of the parameter '\(name)' of the URL"
        }
        return hasKnownForm(text) || isWebhook(text) ? "a part of the URL" : nil
    }

    /// Warns of a secret.
    static func report(_ place: String, at position: SourcePosition, _ reading: PolicyDiagnostics) {
        reading.report(
            "\(place) is a secret, and everyone who has the policy can read it", .warning, at: position,
            expected: "a value from the environment, such as \"${TOKEN}\"", rule: "secret")
    }

    /// Whether a text has a key of Google or Amazon, a token of GitHub, Slack or Stripe, or a JSON Web Token.
    private static func hasKnownForm(_ text: some StringProtocol) -> Bool {
        // Most texts have no such beginning, and this is found out faster.
        let beginnings = ["AIza", "AKIA", "gh", "xox", "k_live_", "eyJ"]
        return beginnings.contains { text.contains($0) }
            && String(text).contains(
                /\b(?:AIza[\w-]{30}|AKIA[A-Z0-9]{16}\b|gh[oprsu]_\w{30}|github_pat_\w{20}|xox[abprs]-[\w-]{10}|[rs]k_live_\w{10}|eyJ[\w-]{8,}\.[\w-]{8})/
            )
    }

    /// Whether everyone who knows a URL may post to it.
    private static func isWebhook(_ text: String) -> Bool {
        text.contains("hook")
            && text.contains(
                /(?i:hooks\.slack\.com\/(?:services|workflows|triggers)|discord(?:app)?\.com\/api\/webhooks|webhook\.office\.com\/webhookb2)\/[\w@-]+\/\w/
            )
    }

    /// A reference to the environment, and its default.
    private static var reference: Regex<(Substring, Substring?)> { /\$\{\w*(?::-([^}]*))?\}/ }

    private static func defaults(of text: String) -> [Substring] { text.matches(of: reference).compactMap(\.1) }

    /// The text that stands in the policy, with the defaults of variables.
    private static func literal(_ node: Node) -> String {
        let text = node.written ?? node.string ?? ""
        return text.contains("${") ? text.replacing(reference) { $0.1 ?? "" } : text
    }
}
