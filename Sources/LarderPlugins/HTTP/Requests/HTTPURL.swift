import LarderCore

/// The URL of an `http` origin: a template whose variables cannot change the server.
struct HTTPURL: Hashable, Sendable {
    /// The template.
    let template: URLTemplate
    /// The server. No value of a variable changes it.
    let server: HTTPAddress.Server
    /// The length of the scheme and the authority, in bytes.
    private let fixedLength: Int
    /// The pieces of the template behind the authority.
    let path: [URLTemplate.Part]
    /// The variables of each segment of the path that consists of nothing else.
    private let bareSegments: [[String]]

    /// Reads the URL of a policy.
    init(_ text: String) throws(URLTemplate.Mistake) {
        // The case of a scheme has no meaning.
        let scheme = text.prefix { $0 != ":" }
        let template = try URLTemplate(scheme.lowercased() + text.dropFirst(scheme.count))
        guard case .text(let start)? = template.parts.first, start.hasPrefix("http://") || start.hasPrefix("https://")
        else {
            throw URLTemplate.Mistake(
                message: text.contains(/^[A-Za-z][\w+.-]*:\/\//)
                    && !["http", "https"].contains(scheme.lowercased())
                    ? "the scheme of the URL is neither https nor http" : "the URL has no scheme and host",
                expected: "a URL that begins with https:// or http://")
        }
        let rest = start.dropFirst(start.hasPrefix("https") ? 8 : 7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if authority.contains("@") {
            throw URLTemplate.Mistake(
                message: "the URL contains a user or a password", expected: "the field Authorization, or a signer")
        }
        if authority.count == rest.count, template.parts.count > 1 {
            guard case .expression(let kind, _) = template.parts[1], kind == .segment || kind == .query else {
                throw URLTemplate.Mistake(
                    message: "the host depends on a variable", expected: "a host that is the same for all requests")
            }
        }
        guard let address = HTTPAddress(start) else {
            throw URLTemplate.Mistake(message: "the host or the port of the URL is not valid")
        }
        let path = [.text(String(rest.dropFirst(authority.count)))] + template.parts.dropFirst()
        bareSegments = try Self.bareSegments(of: path)
        self.path = path
        self.template = template
        server = address.server
        fixedLength = start.utf8.count - rest.utf8.count + authority.utf8.count
    }

    /// The variables without which there is no URL.
    var required: [String] { bareSegments.filter { $0.count == 1 }.flatMap { $0 } }

    /// Returns the URL with these values.
    ///
    /// - Throws: ``LoadError`` if a segment of the path that consists of variables would be empty, or values lead to
    ///   another path.
    func expanded(with values: [String: String]) throws(LoadError) -> String {
        for names in bareSegments where names.allSatisfy({ values[$0]?.isEmpty != false }) {
            throw LoadError(.invalidRequest, "the request has no value for the parameter '\(names[0])' of the URL")
        }
        var url = template.expanded(with: values)
        // Without the part that follows the host, a value could continue the host.
        let afterHost = url.utf8.dropFirst(fixedLength).first
        guard afterHost == nil || afterHost == UInt8(ascii: "/") || afterHost == UInt8(ascii: "?") else {
            throw LoadError(
                .invalidRequest, "the request has no value for the parameter that follows the host of the URL")
        }
        // A value cannot begin a fragment, which would hide the rest of the URL from the server.
        if url.utf8.contains(UInt8(ascii: "#")) {
            url = url.split(separator: "#", omittingEmptySubsequences: false).joined(separator: "%23")
        }
        let path = url.utf8.dropFirst(fixedLength).prefix { $0 != UInt8(ascii: "?") }
        if path.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }),
            HTTPPath.mayHaveDotSegment(Substring(path))
        {
            throw LoadError(.invalidRequest, "a parameter leads to another path of the server: it contains '.' or '..'")
        }
        return url
    }

    private static func bareSegments(of parts: [URLTemplate.Part]) throws(URLTemplate.Mistake) -> [[String]] {
        var found: [[String]] = []
        var variables: [String] = []
        var hasText = false
        var isPath = true
        func end() {
            if isPath, !variables.isEmpty, !hasText { found.append(variables) }
            (variables, hasText) = ([], false)
        }
        for part in parts {
            switch part {
            case .expression(.fragment, _): throw fragment
            case .expression(let kind, let names):
                if kind == .segment || kind == .query { end() }
                if kind == .segment { hasText = true }
                if kind == .query { isPath = false }
                variables += names
            case .text(let text):
                if text.contains("#") { throw fragment }
                let path = text.prefix { $0 != "?" }
                if isPath, HTTPPath.mayHaveDotSegment(path) {
                    throw URLTemplate.Mistake(message: "the path of the URL contains '.' or '..' as a segment")
                }
                for (place, step) in path.split(separator: "/", omittingEmptySubsequences: false).enumerated() {
                    if place > 0 { end() }
                    if !step.isEmpty { hasText = true }
                }
                if path.count < text.count {
                    end()
                    isPath = false
                }
            }
        }
        end()
        return found
    }

    private static let fragment = URLTemplate.Mistake(
        message: "the URL has a fragment, which is never sent to a server", expected: "a URL without '#'")
}

extension SettingType where Value == HTTPURL {
    /// The URL of an HTTP server, with variables for the parameters of requests.
    static var url: SettingType<HTTPURL> {
        let expectation = "a URL such as \"https://api.example.com/items/{id}\""
        return SettingType(
            "URL", expectation: expectation, schema: ["type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#{]"],
            example: "https://api.example.com/items", show: { "\"\($0.template.text)\"" },
            read: { node, reading in
                guard let text = node.string else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                let written = node.written ?? text
                // A text that may be a secret is not told.
                let secret = LiteralSecret.place(in: node)
                let variable = secret == nil && !written.contains("@") ? foreignVariable(in: written) : nil
                do throws(URLTemplate.Mistake) {
                    let url = try HTTPURL(text)
                    if let variable {
                        reading.report(
                            "'\(variable.text)' is no variable, and is sent as it stands", .warning, at: node.position,
                            expected: "a variable in braces: {\(variable.name)}")
                    }
                    if let secret {
                        LiteralSecret.report(secret, at: node.position, reading)
                    }
                    return url
                } catch {
                    // The other forms may stand in a URL, so they are not the reason.
                    if let variable, variable.text.hasPrefix("<") || variable.text.hasPrefix("{") {
                        reading.report(
                            "'\(variable.text)' is no variable", at: node.position,
                            expected: "a variable in braces: {\(variable.name)}")
                    } else {
                        reading.report(error.message, at: node.position, expected: error.expected ?? expectation)
                    }
                    return nil
                }
            })
    }

    /// Returns the first variable that is written as in other frameworks, and its name: `:id`, `$id`, `[id]`, `<id>` or
    /// `{{id}}`. The names that OData and FHIR put into paths, such as `$count`, are none.
    private static func foreignVariable(in text: String) -> (text: Substring, name: Substring)? {
        // To make the expression takes half a millisecond, and few URLs have such a place.
        let starts = zip(text.utf8, text.utf8.dropFirst()).contains { before, first in
            "/=".utf8.contains(before) && ":$[<".utf8.contains(first)
        }
        guard starts || text.contains("{{") else { return nil }
        let form =
            #/
            [\/=] (?<text>
            : (?<a> [A-Za-z_]\w*) |
            \$ (?! (?:all|batch|count|entity|everything|export|links|metadata|ref|search|validate|value)\b )
            (?<b> [A-Za-z_]\w*) |
            \[ (?<c> [A-Za-z_]\w*) \] | < (?<d> [A-Za-z_]\w*) > | \{\{ (?<e> [A-Za-z_]\w*) \}\} )
            /#
        return text.firstMatch(of: form).flatMap { match in
            (match.a ?? match.b ?? match.c ?? match.d ?? match.e).map { (match.text, $0) }
        }
    }
}
