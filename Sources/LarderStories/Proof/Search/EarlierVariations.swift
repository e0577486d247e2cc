import Larder

/// The variations of situations by loads that began before.
extension SituationSpace {
    /// The loads before.
    var earlierVariations: [Variation] { ownEarlierVariations + otherEarlierVariations }

    /// The earlier loads of the same instance: failures, a value, an answer that the resource is gone, and calls that
    /// are still under way. After failures the origin rests. After the answer that the resource is gone, the copy is
    /// dropped.
    var ownEarlierVariations: [Variation] {
        let triesLast = policy.triesWait
        var variations: [Variation] = policy.rests.flatMap { rest in
            // Right after the failure, and right before and after the end of the rest.
            [Self.step, rest - Self.step, rest + Self.step].filter { $0 > .zero }.map {
                Self.failing(triesLast + $0, loads: 1, isOther: false)
            }
        }
        // Failures for most of a minute, after which origins rest longer than after one.
        let gap = min(triesLast + (policy.waitBorders.last ?? .zero), .seconds(10))
        variations.append(Self.failing(gap, loads: 2, every: .seconds(45), isOther: false))
        if let rest = policy.rests.last {
            // The rest is almost over, and a breaker is closed again that rests for a shorter time.
            let late = triesLast + max(rest, OriginFailure.longestRest) - Self.step
            let pause = max(.seconds(45), triesLast + rest + Self.step)
            variations.append(Self.failing(late, loads: 2, every: pause, isOther: false))
        }
        variations += answeredVariations
        variations.append(Self.answered(before: .seconds(10), .status(404)))
        return variations + callsUnderWay(isOther: false)
    }

    /// Loads of the same instance before that were answered.
    var answeredVariations: [Variation] {
        fewCopies.compactMap { $0?.age }.map { Self.answered(before: max($0, Self.step), .value) }
    }

    /// The loads of other instances before: failures that open a breaker, and calls that are still under way.
    private var otherEarlierVariations: [Variation] {
        var variations: [Variation] = []
        for part in policy.parts {
            guard let failures = part.wrapperTraits.changesAfterFailures else { continue }
            let count = min(failures, SimulatedPolicy.mostFailures)
            for rest in SimulatedPolicy.restBorders(of: part) {
                for gap in [Self.step, rest - Self.step, rest, rest + Self.step] where gap > .zero {
                    variations.append(Self.failing(policy.triesWait + gap, loads: count, isOther: true))
                }
            }
        }
        return variations + callsUnderWay(isOther: true)
    }

    /// A load that was answered.
    private static func answered(before: Duration, _ ending: Story.OriginAct.Ending) -> Variation {
        { situation in
            situation.with { situation in
                situation.earlier = [Story.Load(before: before)]
                situation.earlierOrigin = [.init(ending)]
                situation.keepAge()
            }
        }
    }

    /// Loads that failed, the last of which began some time before.
    private static func failing(
        _ gap: Duration, loads: Int, every interval: Duration = .seconds(1), isOther: Bool
    ) -> Variation {
        { situation in
            situation.with { situation in
                situation.earlier = (0..<loads).reversed().map {
                    Story.Load(before: gap + interval * $0, isOther: isOther)
                }
                situation.earlierOrigin = [.init(.status(503))]
                situation.keepAge()
            }
        }
    }

    /// Calls that began some time before and go on.
    private func callsUnderWay(isOther: Bool) -> [Variation] {
        let times = [Self.step] + policy.waitBorders.prefix(3).map { $0 - Self.step }
        return times.filter { $0 > .zero }.map { before -> Variation in
            { [hanging] situation in
                situation.with { situation in
                    situation.earlier = [Story.Load(before: before, isOther: isOther)]
                    situation.earlierOrigin = [hanging]
                    situation.keepAge()
                }
            }
        }
    }
}

extension Story {
    /// Makes the copies older than the time since the first earlier load, so that they were there before.
    mutating func keepAge() {
        let least = earlier.isEmpty ? .zero : lead + .milliseconds(1)
        if let age = copy?.age { copy?.age = max(age, least) }
        if let age = copy?.ageAbove { copy?.ageAbove = max(age, least) }
    }
}
