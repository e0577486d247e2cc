import LarderSystem

extension Policy {
    /// The policy in effect without values that could be secret: for dumps, which leave the machine.
    ///
    /// It has the plugins' names, and the values of settings whose type says that they may be shown
    /// (``SettingType/isShownInDumps``). Other values, such as texts, URLs and paths, are replaced by `…` with two digits,
    /// and values from the environment by `${NAME}`. Settings that have no effect are left out.
    var outline: JSON {
        .object(
            (tree.members ?? []).compactMap { entry in
                members.first { $0.kind != nil && $0.name == entry.name }.map { member in
                    .init(entry.name, entry.value.outline(of: self[member], isShown: false))
                }
            })
    }
}

extension Part {
    fileprivate var outline: JSON {
        let isSection = plugin.kind.isSection
        let name = name.writtenOutline ?? .string(plugin.name)
        guard isSection || node["use"] != nil else { return name }
        let settings = plugin.settings
        return .object(
            (node.members ?? []).compactMap { member in
                if !isSection, member.name == "use" { return .init("use", name) }
                return settings.first { $0.name == member.name }.map { setting in
                    .init(setting.name, member.value.outline(of: nested, isShown: setting.isShownInDumps))
                }
            })
    }
}

extension Node {
    /// The text in place of a value that is not shown. Its two digits tell it from most others, so that a report can name
    /// the settings that changed. They tell one of 256 about the value.
    private var hidden: JSON {
        var text = CanonicalText(isShown: true)
        text.write(self)
        return .string("…" + SHA256.hex(text.bytes).prefix(2))
    }

    /// Returns the value without those that could be secret.
    ///
    /// - Parameters:
    ///   - parts: the parts that the value may stand for.
    ///   - isShown: whether a value that stands for no part is shown.
    fileprivate func outline(of parts: [Part], isShown: Bool) -> JSON {
        if let part = part(of: parts) { return part.outline }
        if let writtenOutline { return writtenOutline }
        switch content {
        case .list(let items) where isShown || items.contains { $0.part(of: parts) != nil }:
            return .list(items.map { $0.outline(of: parts, isShown: isShown) })
        case .object(let members) where isShown:
            return .object(members.map { .init($0.name, $0.value.outline(of: parts, isShown: true)) })
        default: return isShown ? shown : hidden
        }
    }

    /// The part that the value stands for.
    private func part(of parts: [Part]) -> Part? { parts.first { $0.node.position == position } }

    /// The outline of a text with values from the environment; nil for any other value. A text around the name of a
    /// variable, or a default after it, could be secret.
    fileprivate var writtenOutline: JSON? { written.map { $0.isVariable ? .string($0) : hidden } }
}

extension String {
    /// Whether the text is the name of one environment variable and nothing else: `${NAME}`.
    fileprivate var isVariable: Bool {
        hasPrefix("${") && hasSuffix("}")
            && dropFirst(2).dropLast().allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
}
