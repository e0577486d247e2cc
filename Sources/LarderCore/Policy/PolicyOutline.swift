extension Policy {
    /// The policy in effect without texts that could be secret: for dumps, which leave the machine.
    ///
    /// It has the plugins' names, numbers, durations, sizes, shares, and lowercase words, such as those of a choice. Other
    /// texts, such as URLs, paths and the values of header fields, are replaced. So is each value from the environment, by
    /// `${NAME}`.
    var outline: JSON {
        let names = Set(members.map(\.name))
        return .object(
            (tree.members ?? []).filter { names.contains($0.name) }.map {
                .init($0.name, $0.value.outline(isPart: true))
            })
    }
}

extension Node {
    /// The text in place of one that is not shown.
    private static let hidden = "…"

    /// - Parameter isPart: whether this belongs to a plugin or a section. Other objects are maps, whose values an author
    ///   chooses freely.
    fileprivate func outline(isPart: Bool) -> JSON {
        switch content {
        case .string(let text):
            // A text around a name, or a default after it, could be secret.
            if let written { return .string(written.isVariable ? written : Self.hidden) }
            return .string(text.isQuantity || isPart && text.isWord ? text : Self.hidden)
        case .list(let items): return .list(items.map { $0.outline(isPart: isPart && !$0.isMap) })
        case .object(let members):
            let isPart = isPart || !isMap
            return .object(
                members.map { .init($0.name, $0.value.outline(isPart: isPart && !$0.value.isMap)) })
        default: return shown
        }
    }

    /// Whether this is an object that names no plugin.
    private var isMap: Bool { members.map { inner in !inner.contains { $0.name == "use" } } ?? false }
}

extension String {
    private static let units: Set<String> = [
        "ns", "us", "µs", "ms", "s", "m", "h", "d", "B", "KB", "MB", "GB", "TB", "%",
    ]

    /// Whether the text is a duration, a size or a share.
    fileprivate var isQuantity: Bool {
        let digits = prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        return !digits.isEmpty && digits.count <= 16 && Self.units.contains(String(dropFirst(digits.count)))
    }

    /// Whether the text is the name of one environment variable and nothing else: `${NAME}`.
    fileprivate var isVariable: Bool {
        hasPrefix("${") && hasSuffix("}")
            && dropFirst(2).dropLast().allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }

    /// Whether the text is a short lowercase word, with hyphens.
    fileprivate var isWord: Bool {
        (1...32).contains(utf8.count) && utf8.allSatisfy { (97...122).contains($0) || $0 == 45 }
    }
}
