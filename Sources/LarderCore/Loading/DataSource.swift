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

    /// Sources with the same data are equal, whichever of their marks new entries get.
    package static func == (one: DataSource, other: DataSource) -> Bool { one.same == other.same }

    package func hash(into hasher: inout Hasher) { hasher.combine(same) }

    /// Returns whether an entry with this mark has data of this source.
    package func has(_ mark: UInt64?) -> Bool { mark.map(same.contains) ?? false }

    /// Returns whether each entry that a former policy may have kept has data of the present policy's source.
    static func keepsAll(from former: DataSource?, to present: DataSource?) -> Bool {
        guard let present else { return true }
        return former.map { present.same.isSuperset(of: $0.same) } ?? false
    }

    /// Returns a text by which people can compare sources. Nothing can be concluded from it about the settings.
    package var text: String {
        let digits = String(own, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
