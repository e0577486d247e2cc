import Larder
import Foundation
import LarderSimulation
import Testing

/// Random values and damaged texts, read by Foundation too.
struct JSONTextAgainstFoundationTests {
    private func value(depth: Int, _ numbers: inout SeededGenerator) -> JSON {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &numbers) {
        case 0: .null
        case 1: .bool(.random(using: &numbers))
        case 2: .int(.random(in: -1_000...1_000, using: &numbers))
        case 3: .number(Double(Int.random(in: -9_999...9_999, using: &numbers)) / 8)
        case 4, 5: .string(string(&numbers))
        case 6, 7: .list((0..<Int.random(in: 0..<5, using: &numbers)).map { _ in value(depth: depth - 1, &numbers) })
        default:
            .object(
                (0..<Int.random(in: 0..<20, using: &numbers)).map {
                    JSON.Member("\(string(&numbers))\($0)", value(depth: depth - 1, &numbers))
                })
        }
    }

    private func string(_ numbers: inout SeededGenerator) -> String {
        let characters: [Character] = [
            "a", "b", "\"", "\\", "\n", "/", "é", "😀", "\u{7F}", "\u{2028}", "\u{1}", " ", "{", "]",
        ]
        return String(
            (0..<Int.random(in: 0..<6, using: &numbers)).map { _ in characters.randomElement(using: &numbers) ?? "a" })
    }

    private func read(_ bytes: [UInt8]) -> NSObject? {
        (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) as? NSObject
    }

    @Test func randomValuesMeanTheSameToFoundation() throws {
        var numbers = SeededGenerator(seed: 43)
        for _ in 0..<500 {
            let text = JSONText(value(depth: 4, &numbers))
            let checked = try JSONText(text.bytes)
            #expect(checked.bytes == text.bytes)
            #expect(read(text.bytes) == read(text.canonical))
            if text.kind == .object {
                let copy = JSONText(object: text.members)
                #expect(copy.means(text))
                for member in text.members { #expect(text[member.name] == member.value) }
                for member in text.members {
                    let without = text.setting([member.name], to: nil)
                    #expect(without[member.name] == nil)
                    #expect(without.setting([member.name], to: member.value).means(text))
                }
            }
        }
    }

    @Test func damagedTextsAreRefusedOrReadAlike() {
        var numbers = SeededGenerator(seed: 44)
        var read = 0
        for _ in 0..<3_000 {
            var bytes = JSONText(value(depth: 3, &numbers)).bytes
            let place = Int.random(in: 0..<bytes.count, using: &numbers)
            switch Int.random(in: 0..<3, using: &numbers) {
            case 0: bytes[place] = .random(in: 0...255, using: &numbers)
            case 1: bytes.remove(at: place)
            default: bytes.insert(Array("{}[],:\"\\0-e.".utf8).randomElement(using: &numbers) ?? 0, at: place)
            }
            guard let text = try? JSONText(bytes) else { continue }
            read += 1
            // An accepted text can be walked through, and is accepted again.
            #expect((try? JSONText(text.canonical))?.means(text) == true)
            // Foundation knows no numbers beyond those of the machine.
            let hasExponent = bytes.contains(UInt8(ascii: "e")) || bytes.contains(UInt8(ascii: "E"))
            if !hasExponent { #expect(self.read(text.bytes) != nil) }
        }
        #expect(read > 200)
    }
}
