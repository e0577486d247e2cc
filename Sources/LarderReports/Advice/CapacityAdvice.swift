import Larder
import LarderSystem

extension AdviceBasis {
    private static let fewest: UInt64 = 50
    private static let mostFactor = 4

    /// Advice to make a store larger, if it evicted copies that were still wanted.
    var moreCapacity: Advice? {
        let missing = alternatives.evictedTooSoon
        // Of several tiers, it is not known which one would have to be larger.
        guard let setting = self[.capacity], !setting.isNested, let capacity = setting.size, capacity < 1 << 60,
            metrics[.hits] > 0,
            missing.count >= Self.fewest
        else { return nil }
        let most = Int64(clamping: capacity.multipliedReportingOverflow(by: Self.mostFactor).partialValue)
        guard
            let limit = missing.limit(above: 0, upTo: most, below: 0.8)
                ?? missing.limit(above: 0, upTo: most, below: 0.3)
        else { return nil }
        let value = capacity + Int(limit)
        let saved = Double(missing.count(below: limit))
        return advice(
            setting, to: .string(value.spelledSize), effect: .originCalls, saves: saved...saved,
            sentence:
                "about \(missing.count) calls asked for copies that the store had evicted while they were fresh; with capacity "
                + "\(value.spelledSize) instead of \(capacity.spelledSize), about \(saved.whole) of them would not have been made"
        )
    }
}
