import LarderFoundation
import LarderSystem
import LarderCore

/// A generator of sample payloads: a list of videos, a product, or a picture.
struct SamplePayload: Sendable {
    let kind: String
    let seed: UInt64

    /// Returns the bytes and the media type for these parameters. Each `edition` of the service's contents has other
    /// bytes.
    func make(for parameters: [String: String], edition: UInt64) -> (Data, String) {
        let name = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        var dice = SeededGenerator(state: seed ^ edition &* 0x9E37_79B9_7F4A_7C15 ^ Checksum.of(Array(name.utf8)))
        switch kind {
        case "feed": return (Data(feed(&dice).text(indented: false).utf8), "application/json")
        case "catalog":
            return (Data(product(parameters["id"] ?? "1", &dice).text(indented: false).utf8), "application/json")
        default: return (Data(picture(&dice)), "image/bmp")
        }
    }

    private func feed(_ dice: inout SeededGenerator) -> JSON {
        .list(
            (1...10).map { place in
                [
                    "id": .int(dice.roll(100_000)),
                    "title": .string("\(dice.pick(Self.verbs)) \(dice.pick(Self.nouns))"),
                    "seconds": .int(30 + dice.roll(900)), "place": .int(place),
                ]
            })
    }

    private func product(_ id: String, _ dice: inout SeededGenerator) -> JSON {
        [
            "id": .string(String(id.prefix(64))), "name": .string("\(dice.pick(Self.nouns)) no. \(dice.roll(90) + 10)"),
            "price": .number(Double(dice.roll(20_000)) / 100), "stock": .int(dice.roll(50)),
        ]
    }

    /// Returns a small picture in two colours, as an uncompressed bitmap: 24 × 24 pixels, 3 bytes each.
    private func picture(_ dice: inout SeededGenerator) -> [UInt8] {
        let side = 24
        let size = side * side * 3
        func little(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(number >> ($0 * 8) & 255) } }
        var bytes = Array("BM".utf8) + little(54 + size, 4) + little(0, 4) + little(54, 4)
        bytes += little(40, 4) + little(side, 4) + little(side, 4) + little(1, 2) + little(24, 2)
        bytes += [UInt8](repeating: 0, count: 24)
        let colours = (0..<2).map { _ in (0..<3).map { _ in UInt8(dice.roll(256)) } }
        let pattern = dice.next()
        for row in 0..<side {
            for column in 0..<side { bytes += colours[Int(pattern >> UInt64((row / 3 * 8 + column / 3) % 64) & 1)] }
        }
        return bytes
    }

    private static let verbs = [
        "Baking", "Repairing", "Painting", "Growing", "Tuning", "Folding", "Finding", "Drawing",
    ]
    private static let nouns = ["bread", "bicycles", "boats", "beans", "pianos", "paper", "mushrooms", "maps"]

    /// A stream of pseudorandom numbers that depends only on its seed.
    private struct SeededGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }

        mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(sides)) }

        mutating func pick(_ words: [String]) -> String { words[roll(words.count)] }
    }
}
