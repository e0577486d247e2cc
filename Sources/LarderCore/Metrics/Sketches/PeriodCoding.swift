// Periods as dumps contain them: a series for each counter.

import LarderSystem

extension [FiveMinutes] {
    /// The periods as JSON: the `start` of the first one, the `gaps` between the others in multiples of `step` seconds,
    /// and for each counter the series of its counts.
    ///
    /// - Parameter known: the counters of the whole run, in whose order the series are written.
    func json(counters known: [Counter]) -> JSON {
        guard let first = map(\.start).min() else { return .list([]) }
        let periods = inOrder
        let distances = zip(periods, periods.dropFirst()).map { Int64(($1.start - $0.start).nanoseconds / 1_000) }
        // Periods begin at multiples of five minutes.
        let step = distances.reduce(FiveMinutes.length / 1_000, greatestCommonDivisor)
        func series(_ value: (FiveMinutes) -> UInt64) -> JSON {
            .string(PackedNumbers.text(periods.map(value)))
        }
        let used: Set<Counter> = periods.reduce(into: []) { used, period in
            for counter in Counter.core + period.counts.plugins where period[counter] > 0 { used.insert(counter) }
        }
        func counts(_ counter: Counter) -> JSON { series { Swift.min($0[counter], MetricsDump.mostCount) } }
        return .present([
            "start": .number(first.inSeconds), "step": .number(Double(step) / 1_000_000),
            "gaps": .string(PackedNumbers.text(distances.map { UInt64(Swift.max(1, $0 / step)) - 1 })),
            "counters": used.isSubset(of: known)
                ? .list(known.map { used.contains($0) ? counts($0) : "" })
                : .each(used.sorted { $0.name < $1.name }) { ($0.name, counts($0)) },
            "oldest": periods.contains { $0.oldest != nil } ? series { $0.oldest.map(Self.code) ?? 0 } : nil,
            "waited": periods.contains { $0.waited != nil }
                ? series { $0.waited.map { UInt64(Swift.max(0, $0.nanoseconds / 1_000)) + 1 } ?? 0 } : nil,
        ])
    }

    /// The periods in the order of their starts, each start once.
    private var inOrder: [FiveMinutes] {
        sorted { $0.start < $1.start }.reduce(into: []) { periods, period in
            if periods.last?.start == period.start {
                periods[periods.count - 1].merge(period)
            } else {
                periods.append(period)
            }
        }
    }

    /// An age is known to one percent, so the number of its bucket tells as much. Zero stands for no age.
    private static func code(_ age: Duration) -> UInt64 { UInt64(Sketch.Scale.age.bucket(of: age.nanoseconds)) + 1 }

    /// Reads periods.
    ///
    /// - Parameter names: the names of the counters, if there is only a list of their series.
    /// - Throws: ``MetricsDump/Unreadable`` if the elements do not fit together.
    init(
        reading node: Node, _ known: inout DumpDeclarations, counters names: [String]
    ) throws(MetricsDump.Unreadable) {
        self = []
        let (start, step) = (try node.time("start"), try node.seconds("step"))
        guard step > .zero, step <= .seconds(100_000) else { throw .init("'step' of periods cannot be") }
        let gaps = try node["gaps"]?.series(named: "gaps", most: ResourceList.mostPeriods) ?? []
        try known.count(gaps.count + 1, "periods", most: ResourceList.mostPeriods)
        append(FiveMinutes(start: start))
        var place: Int64 = 0
        for gap in gaps {
            place += 1 + Int64(gap)
            guard place < 1 << 32 else { throw .init("'gaps' of periods are too large") }
            append(FiveMinutes(start: start + step * place))
        }
        for (name, column) in try node.counters(names) {
            guard let counter = try known.counter(named: name) else { continue }
            let counts = try column.series(named: name, most: count)
            try known.count(counts.count { $0 > 0 }, "numbers", most: ResourceList.mostNumbers)
            for (index, count) in counts.enumerated() where count > 0 {
                self[index][counter] = count
            }
        }
        for (index, code) in (try node["oldest"]?.series(named: "oldest", most: count) ?? []).enumerated()
        where code > 0 {
            guard code <= UInt64(Sketch.bucketCount) else { throw .init("'oldest' is no bucket of a sketch") }
            self[index].oldest = Sketch.Scale.age.middle(of: Int(code) - 1)
        }
        for (index, code) in (try node["waited"]?.series(named: "waited", most: count) ?? []).enumerated()
        where code > 0 {
            self[index].waited = .microseconds(Int64(code) - 1)
        }
    }
}

private func greatestCommonDivisor(_ one: Int64, _ other: Int64) -> Int64 {
    other == 0 ? one : greatestCommonDivisor(other, one % other)
}
