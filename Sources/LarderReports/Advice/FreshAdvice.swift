import LarderFoundation
import Larder
import LarderSystem

extension AdviceBasis {
    private static let fewest: UInt64 = 50
    /// The share of calls that may find a change.
    private static let mostChanged = 0.1
    private static let factors: ClosedRange<Double> = 1.5...12

    /// Advice to call copies fresh for longer, if calls found them unchanged.
    var longerFresh: Advice? {
        let (unchanged, changed) = (alternatives.unchanged, alternatives.changed)
        let calls = unchanged.count.plus(changed.count)
        // A strategy that asks about fresh copies, too, does not follow this setting.
        // With several validators, another one may decide how long copies are fresh.
        guard let setting = self[.fresh], let fresh = setting.duration, fresh > .zero, metrics[.hits] > 0,
            settings.count(where: { $0.topic == .onError }) <= 1,
            calls >= Self.fewest, alternatives.askedWhileFresh.count <= calls / 10
        else { return nil }
        // With no change in n calls, as many as 3 in n may be changed.
        let share = max(Double(changed.count), 3) / Double(calls)
        let factor = min(Self.factors.upperBound, Self.mostChanged / share)
        guard factor >= Self.factors.lowerBound else { return nil }
        var limits = Histogram(.durations)
        limits.record(fresh.scaled(by: factor))
        guard let limit = limits.parts.first?.from, Double(limit) >= fresh.inNanoseconds * Self.factors.lowerBound
        else {
            return nil
        }
        let value = Duration.nanoseconds(limit)
        let saved = (unchanged.parts + changed.parts).reduce(0.0) { sum, part in
            sum + Double(part.count)
                * Self.saved(
                    by: value, insteadOf: fresh, from: Double(part.from), to: Double(part.to ?? part.from))
        }
        return advice(
            setting, to: .string(value.spelled), effect: .originCalls, saves: saved...saved,
            sentence:
                "\(calls) calls asked whether a copy is still current, and \(unchanged.count) found it unchanged; with fresh "
                + "\(value.spelled) instead of \(fresh.spelled), about \(saved.whole) of them would not have been made"
        )
    }

    /// Advice not to refresh copies ahead of time, if nobody used them.
    var noRefreshAhead: Advice? {
        guard let setting = self[.refreshAhead], let share = setting.share, (0..<1).contains(share),
            let fresh = self[.fresh]?.duration, fresh > .zero
        else { return nil }
        let tracked = alternatives.usedRefreshes.plus(alternatives.unusedRefreshes)
        let early = alternatives.askedWhileFresh
        guard early.count >= Self.fewest, tracked >= 20, alternatives.unusedRefreshes >= tracked / 3 else { return nil }
        let ahead = fresh.scaled(by: share)
        // The time since a refresh could begin is, for calls ahead of time, less by the time that was left, and for others
        // more by the time since the end of freshness.
        let most = (fresh - ahead).inNanoseconds
        let since =
            early.parts.map { part in
                (
                    from: max(0, most - (part.to.map(Double.init) ?? most)), to: max(0, most - Double(part.from)),
                    part.count
                )
            }
            + (alternatives.unchanged.parts + alternatives.changed.parts).map { part in
                (from: most + Double(part.from), to: most + Double(part.to ?? part.from), part.count)
            }
        let saved = since.reduce(0.0) { sum, part in
            sum + Double(part.2) * Self.saved(by: fresh, insteadOf: ahead, from: part.from, to: part.to)
        }
        let calls = since.reduce(UInt64(0)) { $0.plus($1.2) }
        return advice(
            setting, to: nil, effect: .originCalls, saves: saved...saved,
            sentence:
                "\(alternatives.unusedRefreshes) of \(tracked) sampled refreshes answered no load while they were fresh; without "
                + "refreshAhead, about \(saved.whole) of \(calls) calls would not have been made")
    }

    /// Returns the share of a call that a longer freshness saves.
    ///
    /// If requests for a key come at random, a call is made once in the freshness and the mean time to the next request. That
    /// mean is not known for a single key. But with a time e from the end of freshness F to the call, (1 − F/F′) · exp(−e/F′)
    /// has the expectation that is wanted, for every mean: so the sum is right, however different the keys are.
    ///
    /// - Parameters:
    ///   - from: the least time from the end of freshness to the call, in nanoseconds.
    ///   - to: the most.
    private static func saved(by longer: Duration, insteadOf fresh: Duration, from: Double, to: Double) -> Double {
        let (long, short) = (longer.inNanoseconds, fresh.inNanoseconds)
        let (low, high) = (from / long, to / long)
        let mean = high > low ? (exp(-low) - exp(-high)) / (high - low) : exp(-low)
        return (1 - short / long) * mean
    }
}

extension Duration {
    fileprivate var inNanoseconds: Double { Double(nanoseconds) }
}
