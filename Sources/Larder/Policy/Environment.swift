/// Puts the environment's values in place of `${NAME}` and `${NAME:-default}`. `$${` stands for `${`.
struct EnvironmentReader {
    let variables: [String: String]

    /// The tree with every string filled in. Names of settings are left alone.
    func fill(_ node: Node, _ reading: Reading) -> Node {
        if !node.mentionsEnvironment { return node }
        var filled = node
        switch node.content {
        case .string(let text):
            guard let value = fill(text, at: node.place, reading) else {
                reading.leftUnfilled(node.place)
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

    /// The text filled in; nil after reporting what is wrong with it.
    private func fill(_ text: String, at place: Place, _ reading: Reading) -> String? {
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
                reading.report("'${' without '}'", at: place, expected: expected)
                return nil
            }
            let inner = rest[..<close]
            rest = rest[rest.index(after: close)...]
            let parts = inner.firstRange(of: ":-").map { (inner[..<$0.lowerBound], inner[$0.upperBound...]) }
            let name = String(parts?.0 ?? inner)
            guard Self.isName(name) else {
                reading.report("this is no name of an environment variable", at: place, expected: expected)
                return nil
            }
            guard let value = variables[name].flatMap({ $0.isEmpty ? nil : $0 }) ?? parts.map({ String($0.1) }) else {
                reading.report(
                    "the environment has no variable \(name.prefix(64))", at: place,
                    expected: "it to be set, or a default: ${\(name.prefix(64)):-…}")
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
    /// Whether some text in it names something in the environment, or may.
    fileprivate var mentionsEnvironment: Bool {
        switch content {
        case .string(let text): text.utf8.contains(UInt8(ascii: "$")) && text.contains("${")
        case .list(let items): items.contains(where: \.mentionsEnvironment)
        case .object(let members): members.contains { $0.value.mentionsEnvironment }
        default: false
        }
    }
}
