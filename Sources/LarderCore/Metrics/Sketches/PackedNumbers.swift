/// A series of whole numbers as a short text. Dumps contain many such series.
///
/// The text is the exponential-Golomb code of the numbers, in the digits of base 64 for URLs (`A` is 0, `_` is 63). The
/// first digit is the order k of the code, and each further digit holds six bits, the highest first. For a number n, the
/// code has the binary digits of ⌊n / 2ᵏ⌋ + 1, preceded by as many zeros as digits follow its first one, and then the last
/// k binary digits of n. Zero bits fill the last digit. So small numbers take few bits: with k = 0, a zero takes one.
enum PackedNumbers {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 64, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()
    /// The number of binary digits of the largest number.
    private static let mostBits = 64 - MetricsDump.mostCount.leadingZeroBitCount

    /// Returns the text of numbers, which is empty if there are none.
    static func text(_ numbers: [UInt64]) -> String {
        guard !numbers.isEmpty else { return "" }
        let order = (0..<mostBits).min { size(of: numbers, $0) < size(of: numbers, $1) } ?? 0
        var (text, digit, free) = ([digits[order]], 0, 6)
        func add(_ number: UInt64, bits: Int) {
            for bit in (0..<bits).reversed() {
                free -= 1
                digit |= Int(number >> UInt64(bit) & 1) << free
                if free == 0 {
                    text.append(digits[digit])
                    (digit, free) = (0, 6)
                }
            }
        }
        for number in numbers {
            let high = number >> UInt64(order) + 1
            let length = 64 - high.leadingZeroBitCount
            add(0, bits: length - 1)
            add(high, bits: length)
            add(number, bits: order)
        }
        if free < 6 { text.append(digits[digit]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The number of bits that numbers take in the code of an order.
    private static func size(of numbers: [UInt64], _ order: Int) -> Int {
        numbers.reduce(0) { $0 + 2 * (64 - ($1 >> UInt64(order) + 1).leadingZeroBitCount) - 1 + order }
    }

    /// Returns the numbers of a text; nil if it is not the code of numbers, or of more than `limit` of them.
    static func numbers(in text: String, most limit: Int) -> [UInt64]? {
        let text = text.utf8.map { values[Int($0)] }
        guard let first = text.first else { return [] }
        let order = Int(first)
        guard order < mostBits, text.allSatisfy({ $0 < 64 }) else { return nil }
        let end = text.count * 6
        var (place, numbers) = (6, [UInt64]())
        func bit() -> UInt64 {
            defer { place += 1 }
            return UInt64(text[place / 6] >> UInt8(5 - place % 6) & 1)
        }
        while place < end {
            let start = place
            while place < end, bit() == 0 {}
            let zeros = place - start - 1
            // Only zeros are left: they fill the last digit.
            if place == end, text[(place - 1) / 6] & 1 == 0 { return end - start < 6 ? numbers : nil }
            guard zeros + order <= mostBits, place + zeros + order <= end, numbers.count < limit else { return nil }
            var number: UInt64 = 1
            for _ in 0..<zeros { number = number << 1 | bit() }
            number -= 1
            for _ in 0..<order { number = number << 1 | bit() }
            guard number <= MetricsDump.mostCount else { return nil }
            numbers.append(number)
        }
        return numbers
    }
}
