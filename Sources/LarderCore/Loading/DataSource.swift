import LarderBase

/// The identity of where the data of an origin comes from: a digest of the settings that identify data, such as a URL.
///
/// The store of each policy marks its entries with the source, and finds only those of the same source. So a policy with
/// another URL shows no copy of the former service, and asks about none.
package struct DataSource: Hashable, Sendable {
    /// The mark of new entries.
    package let own: UInt64
    /// The marks of entries that have the same data.
    let same: Set<UInt64>

    /// - Parameter same: the other sources that have the same data.
    init(_ own: UInt64, same: some Sequence<UInt64> = []) {
        self.own = own
        self.same = Set(same).union([own])
    }

    /// Returns whether an entry with this mark has data of this source.
    package func has(_ mark: UInt64?) -> Bool { mark.map(same.contains) ?? false }

    /// Returns a text by which people can compare sources. Nothing can be concluded from it about the settings.
    package var text: String {
        let digits = String(own, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension Policy {
    /// The source of its data; nil if its strategy uses no origin.
    package var source: DataSource? {
        guard let origin else { return nil }
        let marks = origin.sources
        guard let alternative else { return DataSource(marks[0], same: marks) }
        // Copies of both origins are used for each other.
        let pairs = marks.flatMap { mark in alternative.part.sources.map { DataSource.mark(of: [mark, $0]) } }
        return DataSource(pairs[0], same: pairs)
    }
}

extension DataSource {
    fileprivate static func mark(of text: CanonicalText) -> UInt64 { mark(of: text.bytes) }

    fileprivate static func mark(of marks: [UInt64]) -> UInt64 {
        mark(of: marks.flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) })
    }

    private static func mark(of bytes: [UInt8]) -> UInt64 {
        SHA256.digest(bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension Part {
    /// The marks of an origin's data: first its own, then those of sources that have the same data.
    fileprivate var sources: [UInt64] {
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
        return texts.map(DataSource.mark)
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
                text.write(setting.default ?? "")
            }
        }
        return text
    }

    /// The settings that identify data: all of them, if the plugin marks none.
    package var identifyingSettings: [SettingDeclaration] {
        let marked = plugin.settings.filter { $0.role == .identifiesData }
        return marked.isEmpty ? plugin.settings.filter { $0.role == .none } : marked
    }
}
