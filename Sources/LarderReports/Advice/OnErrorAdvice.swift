import Larder
import LarderSystem

extension AdviceBasis {
    private static let fewest: UInt64 = 20
    private static let longest = Duration.seconds(90 * 86_400)

    /// Advice to serve older copies when the origin fails, if loads failed although there was a copy.
    var longerOnError: Advice? {
        let refused = alternatives.refusedForAge
        let present = settings.filter { $0.topic == .onError }
        let values = present.compactMap(\.duration)
        // The loads were refused by one of the validators. All must permit the copy.
        guard refused.count >= Self.fewest, !values.isEmpty, values.count == present.count, let least = values.min()
        else { return nil }
        let most = Self.longest.nanoseconds
        guard
            let limit = refused.limit(above: least.nanoseconds, upTo: most, below: 0.9)
                ?? refused.limit(above: least.nanoseconds, upTo: most, below: 0.5)
        else { return nil }
        let value = Duration.nanoseconds(limit)
        let answered = Double(refused.count(below: limit))
        return advice(
            .onError, settings: present.filter { $0.duration.map { $0 < value } ?? false }, to: .string(value.spelled),
            effect: .staleErrors,
            saves: answered...answered,
            sentence:
                "with onError \(value.spelled) instead of \(least.spelled), a copy would have answered \(answered.whole) of the "
                + "\(counted(Int(clamping: metrics[.staleErrors]), one: "load")) that failed although there was one")
    }
}
