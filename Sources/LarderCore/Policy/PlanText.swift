extension Plan {
    /// The graph as a tree, drawn with lines of text.
    package var tree: String { node.tree }

    /// The graph in the language of Mermaid.
    package var mermaid: String { node.mermaid }

    /// The graph as JSON.
    package var json: JSON { .joined(["revision": .string(revision)], node.json) }
}

extension Plan.Node {
    fileprivate var tree: String {
        var lines: [String] = []
        write(to: &lines, first: "", rest: "")
        return lines.joined(separator: "\n")
    }

    private func write(to lines: inout [String], first: String, rest: String) {
        // Parts are children.
        let written = settings.filter { $0.position != nil && !$0.isList && $0.partName == nil }
            .map { "\($0.name) \($0.text.trimmingQuotes)" }
        let details = (written + [note].compactMap { $0 }).joined(separator: ", ")
        let title = (role.map { "\($0): " } ?? "") + name
        lines.append(first + title + (details.isEmpty ? "" : "  (\(details))"))
        for (place, child) in children.enumerated() {
            let isLast = place == children.count - 1
            child.write(to: &lines, first: rest + (isLast ? "└─ " : "├─ "), rest: rest + (isLast ? "   " : "│  "))
        }
    }

    fileprivate var mermaid: String {
        var lines = ["graph TD"]
        var count = 0
        write(to: &lines, &count)
        return lines.joined(separator: "\n")
    }

    @discardableResult
    private func write(to lines: inout [String], _ count: inout Int) -> String {
        let id = "n\(count)"
        count += 1
        let title = ((role.map { "\($0): " } ?? "") + name).replacing("\"", with: "#quot;")
        lines.append("  \(id)[\"\(title)\"]")
        for child in children {
            let other = child.write(to: &lines, &count)
            lines.append("  \(id) --> \(other)")
        }
        return id
    }

    fileprivate var json: JSON {
        func list<Item>(_ items: [Item], _ json: (Item) -> JSON) -> JSON? {
            items.isEmpty ? nil : .list(items.map(json))
        }
        return .present([
            "name": .string(name), "role": role.map(JSON.string), "note": note.map(JSON.string),
            "settings": list(settings, \.json), "validators": list(validators, \.json),
            "children": list(children, \.json),
        ])
    }
}

extension EffectiveSetting {
    /// The source of the value: a file and line, or `default`.
    package var origin: String {
        position.map { "\($0.source.name):\($0.line)" } ?? "default"
    }

    var json: JSON { ["name": .string(name), "value": shown ?? .null, "from": .string(origin)] }

    fileprivate var isList: Bool {
        if case .list = shown { true } else { false }
    }
}

extension String {
    fileprivate var trimmingQuotes: String {
        hasPrefix("\"") && hasSuffix("\"") && count > 1 ? String(dropFirst().dropLast()) : self
    }
}

extension Plan: ShownByDescription {
    /// The graph as a tree, drawn with lines of text.
    public var description: String { tree }
}

extension Plan.Node: CustomStringConvertible {
    /// The graph below this node, as a tree.
    package var description: String { tree }
}
