import Larder
import LarderSystem

extension AdviceBasis {
    private static let fewest: UInt64 = 50
    private static let longest = Duration.seconds(10)

    private var waits: UInt64 {
        alternatives.answeredLate.count.plus(alternatives.failedLate.count).plus(alternatives.givenUpLate.count)
    }

    /// Advice to wait longer, if the origin answered soon after the patience ended.
    var longerPatience: Advice? {
        let late = alternatives.answeredLate
        guard let setting = self[.patience], let patience = setting.duration, waits >= Self.fewest,
            let limit = late.limit(
                above: patience.nanoseconds, upTo: min(patience * 4, Self.longest).nanoseconds, below: 0.8)
        else { return nil }
        let (answered, all) = (Double(late.count(below: limit)), Double(waits))
        guard answered >= all / 2 else { return nil }
        // Whether the origin would have answered those within the limit is not known.
        let unknown = Double(alternatives.givenUpLate.count(below: limit))
        // Loads that got a copy without a wait, because the origin had been slow, would have waited like the others.
        let factor = (all + Double(alternatives.shownWhileSlow)) / all
        let saved = (answered * factor)...((answered + unknown) * factor)
        let value = Duration.nanoseconds(limit)
        return advice(
            setting, to: .string(value.spelled), effect: .fallbacks, saves: saved,
            sentence:
                "\((all * factor).whole) loads got a copy because the origin was slower than \(patience.spelled); with "
                + "patience \(value.spelled), \(saved.rounded) of them would have got a live answer; the price: each would "
                + "have waited up to \(Optional(value - patience).waited) longer")
    }

    /// Advice to wait less, if loads that waited longer got no answer either.
    var shorterPatience: Advice? {
        guard let setting = self[.patience], let patience = setting.duration, waits >= Self.fewest,
            let usual = usualAnswer(within: patience),
            Double(alternatives.answeredLate.count(below: patience * 4)) < 0.2 * Double(waits)
        else { return nil }
        var limits = Histogram(.durations)
        limits.record(usual)
        guard let limit = limits.parts.first?.to, limit * 2 <= patience.nanoseconds else { return nil }
        let value = Duration.nanoseconds(limit)
        let spared = patience - value
        let saved = Double(waits) * spared.inSeconds * 1_000
        return advice(
            setting, to: .string(value.spelled), effect: .fallbackWait, saves: saved...saved,
            sentence:
                "\(waits) loads waited \(patience.spelled) and then got a copy; with patience \(value.spelled) each of them would "
                + "have waited \(spared.spelled) less; the price: 1 of 100 loads that got a live answer would have got a copy"
        )
    }

    /// The time that 99 of 100 live answers did not exceed, of those that came in time. Nil if there are few. Loads
    /// that waited longer had no copy, so no patience concerns them.
    private func usualAnswer(within patience: Duration) -> Duration? {
        let parts = metrics.latency[.live]?.contents.filter { $0.range.upperBound <= patience } ?? []
        let all = parts.reduce(UInt64(0)) { $0.plus($1.count) }
        guard all >= Self.fewest else { return nil }
        var seen: UInt64 = 0
        return parts.first { part in
            seen = seen.plus(part.count)
            return Double(seen) >= 0.99 * Double(all)
        }?.range.upperBound
    }
}
