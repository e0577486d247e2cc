package import Larder
import LarderSystem

/// The figures of prefetched copies and their uses.
package struct PrefetchFigures {
    /// A number of copies and the bytes of their payloads.
    typealias Amount = (copies: UInt64, bytes: UInt64)

    let saved, used, wasted: Amount

    /// The number of copies that must have ended before their waste is told, and the share of the bytes that must be
    /// wasted.
    private static let fewest: UInt64 = 50
    private static let noticed = 0.5

    /// Returns nil if nothing was prefetched.
    package init?(_ metrics: ResourceMetrics) {
        saved = (metrics[.prefetched], metrics[.prefetchedBytes])
        used = (metrics[.prefetchedUsed], metrics[.prefetchedUsedBytes])
        wasted = (metrics[.prefetchedWasted], metrics[.prefetchedWastedBytes])
        if saved.copies == 0, ended == 0 { return nil }
    }

    private var ended: UInt64 { used.copies.plus(wasted.copies) }

    /// The share of the bytes that were wasted, among those of copies that were used or wasted.
    private var waste: Double {
        let bytes = Double(used.bytes) + Double(wasted.bytes)
        return bytes > 0 ? Double(wasted.bytes) / bytes : 0
    }

    /// Whether most of the bytes were wasted.
    var isWaste: Bool { ended >= Self.fewest && waste >= Self.noticed }

    /// `84.0 % of prefetched bytes were never used`; nil if most of them were.
    package var sentence: String? { isWaste ? "\(waste.percent) of prefetched bytes were never used" : nil }

    static let title = ["prefetched", "saved", "used", "wasted", "waiting", "wasted of used and wasted"]

    /// The rows of a table under ``title``. `show` writes a number.
    func rows(_ show: (UInt64) -> String) -> [[String]] {
        func row(_ label: String, part: (Amount) -> UInt64, share: Double) -> [String] {
            let ended = part(used).plus(part(wasted))
            let waiting = part(saved) - min(part(saved), ended)
            return [label] + [part(saved), part(used), part(wasted), waiting].map(show)
                + [ended == 0 ? "–" : share.percent]
        }
        let copies = ended > 0 ? Double(wasted.copies) / Double(ended) : 0
        return [row("copies", part: \.copies, share: copies), row("bytes", part: \.bytes, share: waste)]
    }
}
