import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Compares the sketch with exact percentiles, and many merged dumps with one.
@Suite struct AccuracyTests {
    enum Shape: String, CaseIterable {
        case uniform, exponential, normal, logNormal, twoHumps

        func draw(_ dice: inout SeededGenerator) -> Duration {
            func chance() -> Double { Double(dice.next() >> 11) * 0x1p-53 }
            // The sum of twelve uniform numbers is almost normally distributed.
            func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + chance() } }
            let milliseconds: Double =
                switch self {
                case .uniform: 1 + 999 * chance()
                case .exponential: 1 / max(1e-6, chance()) * 0.1
                case .normal: max(0.01, 500 + 80 * normal())
                case .logNormal:
                    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512][min(9, max(0, Int(normal() + 5)))] * (1 + chance())
                case .twoHumps: dice.roll(20) == 0 ? 3_000 + 500 * chance() : 40 + 20 * chance()
                }
            return .nanoseconds(Int64(milliseconds * 1_000_000))
        }
    }

    /// The number of samples: one million with `LARDER_SLOW`, because a debug build takes long for so many.
    private static let samples = ProcessInfo.processInfo.environment["LARDER_SLOW"] == nil ? 100_000 : 1_000_000

    @Test(arguments: Shape.allCases) func percentilesAreWithinOnePerCent(_ shape: Shape) throws {
        var dice = SeededGenerator(seed: 11)
        let samples = (0..<Self.samples).map { _ in shape.draw(&dice) }
        let sketch = samples.reduce(into: Sketch()) { $0.record($1) }
        let sorted = samples.map(\.nanoseconds).sorted()
        for share in [0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1] {
            let exact = Double(sorted[Int((share * Double(sorted.count)).rounded(.up)) - 1])
            let told = Double(try #require(sketch.percentile(share)).nanoseconds)
            #expect(abs(told - exact) <= exact * 0.01, "\(share)")
        }
    }

    @Test func thousandMergedDumpsEqualOneSketchOfAllSamples() throws {
        var dice = SeededGenerator(seed: 12)
        var whole = Sketch()
        var merged = ResourceMetrics()
        for number in 0..<1_000 {
            var part = ResourceMetrics()
            for _ in 0..<50 {
                let duration = Shape.allCases[number % 5].draw(&dice)
                whole.record(duration)
                part.originLatency.record(duration)
            }
            // The dump is encoded and read again.
            var dump = MetricsDump(
                host: nil, process: "p", instance: "\(number)", started: Timestamp(seconds: 0),
                written: Timestamp(seconds: 1), resources: [ResourceDump("feed")])
            dump.resources[0].revisions = [
                RevisionDump(name: "r", strategy: "s", isCurrent: true, metrics: part)
            ]
            let read = try MetricsDump(reading: Array(dump.json.text(indented: false).utf8))
            merged.merge(read.resources[0].total)
        }
        #expect(merged.originLatency.count == 50_000)
        #expect(merged.originLatency.contents.map(\.count) == whole.contents.map(\.count))
        #expect(merged.originLatency.contents.map(\.range) == whole.contents.map(\.range))
        for share in [0.5, 0.95, 0.99, 0.999] {
            #expect(merged.originLatency.percentile(share) == whole.percentile(share))
        }
    }

    @Test func fullSketchTakesLessThanTwentyKilobytes() {
        var sketch = Sketch()
        for power in 0..<4_800 { sketch.record(.nanoseconds(Int64(1_000 * Double(power * power * power)))) }
        for bits in 0..<62 {
            for step in 0..<50 { sketch.record(.nanoseconds((Int64(1) << Int64(bits)) / 50 * Int64(50 + step))) }
        }
        let buckets = sketch.contents.count
        #expect(buckets > 1_500 && buckets * 10 < 20 * 1_024)
    }
}
