import Larder
import LarderSimulation
import Testing

/// Addition and subtraction of sketches. AccuracyTests check the accuracy of percentiles.
@Suite struct SketchTests {
    typealias Shape = AccuracyTests.Shape

    private func samples(_ shape: Shape, _ count: Int, seed: UInt64) -> [Duration] {
        var dice = SeededGenerator(seed: seed)
        return (0..<count).map { _ in shape.draw(&dice) }
    }

    private func sketch(_ samples: some Sequence<Duration>) -> Sketch {
        samples.reduce(into: Sketch()) { $0.record($1) }
    }

    @Test(arguments: Shape.allCases) func mergedSketchesEqualOneOfAllTheirSamples(_ shape: Shape) {
        let parts = (0..<5).map { samples(shape, 2_000, seed: $0) } + [samples(.uniform, 100, seed: 9), []]
        let merged = parts.reduce(into: Sketch()) { $0.merge(sketch($1)) }
        #expect(merged == sketch(parts.joined()))
        let backwards = parts.reversed().reduce(into: Sketch()) { $0.merge(sketch($1)) }
        #expect(backwards.percentile(0.95) == merged.percentile(0.95) && backwards.sum == merged.sum)
    }

    @Test func sinceReturnsLaterSamplesOnly() {
        let first = samples(.exponential, 1_000, seed: 1)
        let second = samples(.uniform, 1_000, seed: 2)
        let earlier = sketch(first)
        let difference = sketch(first + second).since(earlier)
        let alone = sketch(second)
        #expect(difference.count == 1_000 && difference.sum == alone.sum)
        for share in [0.1, 0.5, 0.95, 1] { #expect(difference.percentile(share) == alone.percentile(share)) }
        #expect(sketch(first).since(earlier).percentile(0.5) == nil)
    }

    @Test func recordingCountAtOnceEqualsOneByOne() {
        var atOnce = Sketch()
        atOnce.record(.milliseconds(3), times: 1_000)
        #expect(atOnce == sketch(repeatElement(.milliseconds(3), count: 1_000)))
        #expect(atOnce.sum == .seconds(3))
    }

    @Test func emptySketchHasNoPercentileAndExtremesAreClamped() throws {
        #expect(Sketch().percentile(0.5) == nil)
        #expect(sketch([.zero, .nanoseconds(1), .seconds(-5)]).percentile(1) == .microseconds(1))
        let day = try #require(sketch([.seconds(86_400)]).percentile(1)).inSeconds
        #expect(abs(day - 86_400) <= 864.1)
        #expect(sketch([.forever, .forever]).count == 2)
    }
}
