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

    /// The mark in lists of entries that have none, because an earlier version of Larder wrote them. It is no source's.
    static let unknown: UInt64 = 0

    /// Sources with the same data are equal, whichever of their marks new entries get.
    package static func == (left: DataSource, right: DataSource) -> Bool { left.same == right.same }

    package func hash(into hasher: inout Hasher) { hasher.combine(same) }

    /// Returns whether an entry with this mark has data of this source.
    package func contains(_ mark: UInt64?) -> Bool { mark.map(same.contains) ?? false }

    /// Returns whether each entry that a former policy may have kept has data of the present policy's source.
    static func keepsAll(from former: DataSource?, to present: DataSource?) -> Bool {
        guard let present else { return true }
        return former.map { present.same.isSuperset(of: $0.same) } ?? false
    }
}
