import Larder
import LarderSimulation
import Testing

/// Percentiles of many durations within one per cent.
@Suite struct SketchTests {
    enum Shape: String, CaseIterable {
        case uniform, exponential, longTailed, twoHumps

        /// A duration of this shape in microseconds.
        func draw(_ dice: inout Dice) -> Double {
            let chance = Double(dice.next() >> 11) * 0x1p-53
            switch self {
            case .uniform: return 10 + chance * 1_000_000
            // Powers stand in for logarithms, which need a C library: the shape's long tail is what matters.
            case .exponential: return 2 + 50_000 * power(1 / (1 - chance * 0.999), by: 1)
            case .longTailed: return 5 * power(1 / (1 - chance * 0.9999), by: 2)
            case .twoHumps: return dice.roll(10) == 0 ? 3_000_000 + chance * 500_000 : 40 + chance * 20
            }
        }

        private func power(_ base: Double, by exponent: Int) -> Double {
            (0..<exponent).reduce(1) { product, _ in product * base }
        }
    }

    private func samples(_ shape: Shape, _ count: Int, seed: UInt64) -> [Duration] {
        var dice = Dice(seed: seed)
        return (0..<count).map { _ in .nanoseconds(Int64(shape.draw(&dice) * 1_000)) }
    }

    private func sketch(_ samples: some Sequence<Duration>) -> Sketch {
        samples.reduce(into: Sketch()) { $0.record($1) }
    }

    @Test(arguments: Shape.allCases)
    func everyPercentileOfAHundredThousandSamplesIsWithinOnePerCent(_ shape: Shape) throws {
        let sorted = samples(shape, 100_000, seed: 5).sorted()
        let sketch = sketch(sorted)
        #expect(sketch.count == 100_000)
        for share in [0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1] {
            let exact = sorted[max(0, Int((share * 100_000).rounded(.up)) - 1)].inSeconds
            let told = try #require(sketch.percentile(share)).inSeconds
            #expect(abs(told - exact) <= exact * 0.010_001, "\(share)")
        }
    }

    @Test(arguments: Shape.allCases) func mergedSketchesEqualOneOfAllTheirSamples(_ shape: Shape) {
        let parts = (0..<5).map { samples(shape, 2_000, seed: $0) } + [samples(.uniform, 100, seed: 9), []]
        let merged = parts.reduce(into: Sketch()) { $0.merge(sketch($1)) }
        #expect(merged == sketch(parts.joined()))
        let backwards = parts.reversed().reduce(into: Sketch()) { $0.merge(sketch($1)) }
        #expect(backwards.percentile(0.95) == merged.percentile(0.95) && backwards.sum == merged.sum)
    }

    @Test func sinceGivesWhatWasRecordedAfterwards() {
        let first = samples(.longTailed, 1_000, seed: 1)
        let second = samples(.uniform, 1_000, seed: 2)
        let earlier = sketch(first)
        let difference = sketch(first + second).since(earlier)
        let alone = sketch(second)
        #expect(difference.count == 1_000 && difference.sum == alone.sum)
        for share in [0.1, 0.5, 0.95, 1] { #expect(difference.percentile(share) == alone.percentile(share)) }
        #expect(sketch(first).since(earlier).percentile(0.5) == nil)
    }

    @Test func recordingManyTimesAtOnceEqualsOneByOne() {
        var atOnce = Sketch()
        atOnce.record(.milliseconds(3), times: 1_000)
        #expect(atOnce == sketch(repeatElement(.milliseconds(3), count: 1_000)))
        #expect(atOnce.sum == .seconds(3))
    }

    @Test func anEmptySketchHasNoPercentileAndExtremesAreHeldAtTheEdges() throws {
        #expect(Sketch().percentile(0.5) == nil)
        #expect(sketch([.zero, .nanoseconds(1), .seconds(-5)]).percentile(1) == .microseconds(1))
        let day = try #require(sketch([.seconds(86_400)]).percentile(1)).inSeconds
        #expect(abs(day - 86_400) <= 864.1)
        #expect(sketch([.forever, .forever]).count == 2)
    }
}
