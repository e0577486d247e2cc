/// Replaces `${NAME}` and `${NAME:-default}` with values from the environment. `$${` stands for a plain `${`.
struct EnvironmentReader {
    let variables: [String: String]

    /// Returns the tree with every string filled in. The names of settings stay as they are.
    func fill(_ node: Node, _ reading: PolicyDiagnostics) -> Node {
        if !node.mentionsEnvironment { return node }
        var filled = node
        switch node.content {
        case .string(let text):
            guard let value = fill(text, at: node.position, reading) else {
                reading.leftUnfilled(node.position)
                return node
            }
            filled.content = .string(value)
            filled.written = text
        case .list(let items):
            filled.content = .list(
                items.enumerated().map { index, item in reading.inside("[\(index)]") { fill(item, reading) } })
        case .object(let members):
            filled.content = .object(
                members.map { member in
                    var member = member
                    member.value = reading.inside(".\(member.name)") { fill(member.value, reading) }
                    return member
                })
        default: break
        }
        return filled
    }

    /// Returns the text filled in, or nil after reporting what is wrong with it.
    private func fill(_ text: String, at position: SourcePosition, _ reading: PolicyDiagnostics) -> String? {
        let expected = "${NAME}, ${NAME:-default}, or $${ for a plain ${"
        var result = ""
        var rest = text[...]
        while let dollar = rest.firstRange(of: "${") {
            let before = rest[..<dollar.lowerBound]
            result += before
            rest = rest[dollar.upperBound...]
            if before.hasSuffix("$") {
                result += "{"
                continue
            }
            guard let close = rest.firstIndex(of: "}") else {
                reading.report("'${' without '}'", at: position, expected: expected)
                return nil
            }
            let inner = rest[..<close]
            rest = rest[rest.index(after: close)...]
            let parts = inner.firstRange(of: ":-").map { (inner[..<$0.lowerBound], inner[$0.upperBound...]) }
            let name = String(parts?.0 ?? inner)
            guard Self.isName(name) else {
                reading.report("this is not the name of an environment variable", at: position, expected: expected)
                return nil
            }
            guard let value = variables[name].flatMap({ $0.isEmpty ? nil : $0 }) ?? parts.map({ String($0.1) }) else {
                reading.report(
                    "environment variable '\(name.prefix(64))' is \(variables[name] == nil ? "not set" : "empty")",
                    at: position,
                    expected: "a value, or a default: ${\(name.prefix(64)):-…}")
                return nil
            }
            result += value
        }
        return result + rest
    }

    private static func isName(_ name: String) -> Bool {
        let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789".utf8)
        return !name.isEmpty && name.utf8.allSatisfy(letters.contains)
            && name.utf8.first.map { !(48...57).contains($0) } == true
    }
}

extension Node {
    /// Whether a text in the tree contains `${`.
    fileprivate var mentionsEnvironment: Bool {
        switch content {
        case .string(let text): text.utf8.contains(UInt8(ascii: "$")) && text.contains("${")
        case .list(let items): items.contains(where: \.mentionsEnvironment)
        case .object(let members): members.contains { $0.value.mentionsEnvironment }
        default: false
        }
    }
}
