import LarderSystem

extension Policy {
    /// The source of its data; nil if its strategy uses no origin.
    package var source: DataSource? {
        guard let origin else { return nil }
        let marks = origin.sources.map { DataSource.mark(of: $0.bytes) }
        return DataSource(marks[0], same: marks)
    }
}

extension DataSource {
    fileprivate static func mark(of text: [UInt8]) -> UInt64 {
        SHA256.digest(text).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension Part {
    /// The sources of an origin's data: first its own, then those that have the same data.
    fileprivate var sources: [CanonicalText] {
        if plugin.settings.contains(where: { $0.role == .givesSameData }) {
            let inner = nested.filter { $0.plugin.kind == .origin }.flatMap(\.sources)
            if !inner.isEmpty { return inner }
        }
        var texts = [text(with: nil)]
        for setting in plugin.settings {
            guard case .formerValues(let other) = setting.role,
                case .list(let values) = node[setting.name]?.content
            else { continue }
            texts += values.map { text(with: (other, $0)) }
        }
        return texts
    }

    /// Writes the settings that identify data.
    ///
    /// - Parameter other: a setting and its value, in place of the one that it has.
    private func text(with other: (name: String, value: Node)?) -> CanonicalText {
        var text = CanonicalText(isShown: false)
        text.write(plugin.name)
        for setting in identifyingSettings {
            text.write(setting.name)
            if let other, other.name == setting.name {
                text.write(other.value)
            } else if let node = node[setting.name] {
                text.write(node)
            } else {
                text.write(canonical: Array((setting.default ?? "null").utf8))
            }
        }
        return text
    }

    /// The settings that list the present value of another one among its former values.
    var presentAmongFormer: [(list: String, of: String)] {
        let present = text(with: nil).bytes
        return plugin.settings.compactMap { setting in
            guard case .formerValues(let other) = setting.role,
                case .list(let values)? = node[setting.name]?.content,
                values.contains(where: { text(with: (other, $0)).bytes == present })
            else { return nil }
            return (setting.name, other)
        }
    }

    /// The settings that identify data: all of them, if the plugin marks none.
    package var identifyingSettings: [SettingDeclaration] {
        let marked = plugin.settings.filter { $0.role == .identifiesData }
        return marked.isEmpty ? plugin.settings.filter { $0.role == .none } : marked
    }
}

/// The marks of the source of a policy, which are made when somebody asks.
final class SourceMarks: Sendable {
    private let policy: Policy
    private let known = Locked<[String]?>(nil)

    init(of policy: Policy) { self.policy = policy }

    var value: [String] {
        if let known = known.withLock({ $0 }) { return known }
        let marks = policy.source.map { source in
            ([source.own] + source.same.subtracting([source.own]).sorted()).map { String($0, radix: 16) }
        }
        known.withLock { $0 = marks ?? [] }
        return marks ?? []
    }

    /// Makes sure that the data of a mark is that of the origin.
    ///
    /// - Parameter mark: the mark; nil for any, and empty for that of an origin without one.
    /// - Throws: ``LoadError`` if it is another one.
    func check(_ mark: String?) throws(LoadError) {
        guard let mark else { return }
        if mark.isEmpty ? value.isEmpty : value.contains(mark) { return }
        throw LoadError(.unavailable, "the policy has another origin now")
    }
}
