import Larder
import LarderSimulation
import Testing

@testable import LarderCore

/// The short text of series of numbers in dumps.
@Suite struct PackedNumbersTests {
    @Test(arguments: [
        ([], ""), ([0, 0], "Aw"), ([1], "Bw"), ([3, 0, 1], "BWw"), ([100, 101, 99, 0], "EOh1OcA"),
        ([5, 0, 0, 0, 0, 0, 0, 9], "AN-K"), ([MetricsDump.mostCount], "xWNfqTGgAA"),
    ])
    func seriesHasDocumentedText(numbers: [UInt64], text: String) {
        #expect(PackedNumbers.text(numbers) == text)
        #expect(PackedNumbers.numbers(in: text, most: 10) == numbers)
    }

    @Test func anySeriesReadsBack() {
        var dice = SeededGenerator(seed: 11)
        for _ in 0..<300 {
            let bits = UInt64(14 + dice.roll(50))
            let numbers = (0...dice.roll(40)).map { _ in dice.roll(3) == 0 ? 0 : dice.next() >> bits }
                .map { min($0, MetricsDump.mostCount) }
            #expect(PackedNumbers.numbers(in: PackedNumbers.text(numbers), most: 41) == numbers)
            #expect(PackedNumbers.numbers(in: PackedNumbers.text(numbers), most: numbers.count - 1) == nil)
        }
    }

    @Test(arguments: ["=", "é", "_A", "AA", "AAAAAAAAAAAAAAAAAAA_", "A Q", "y_______", "A__"])
    func invalidSeriesIsRefused(text: String) {
        #expect(PackedNumbers.numbers(in: text, most: 10) == nil)
    }
}
