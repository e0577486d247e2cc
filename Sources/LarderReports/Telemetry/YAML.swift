package import Larder

extension JSON {
    /// The value as YAML, in blocks. Texts are quoted as in JSON, which YAML allows.
    package var yaml: String { yamlLines.joined(separator: "\n") + "\n" }

    private var yamlLines: [String] {
        switch self {
        case .object(let members) where !members.isEmpty:
            members.flatMap { member -> [String] in
                guard member.value.isBlock else { return ["\(member.name): \(member.value.text(indented: false))"] }
                return ["\(member.name):"] + member.value.yamlLines.map { "  " + $0 }
            }
        case .list(let items) where !items.isEmpty:
            items.flatMap { item in
                item.yamlLines.enumerated().map { number, line in (number == 0 ? "- " : "  ") + line }
            }
        default: [text(indented: false)]
        }
    }

    private var isBlock: Bool {
        switch self {
        case .object(let members): !members.isEmpty
        case .list(let items): !items.isEmpty
        default: false
        }
    }
}
