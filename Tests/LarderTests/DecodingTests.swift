import FoundationEssentials
import LarderSimulation
import Testing

@testable import Larder

@Suite struct DecodingTests {
    private static let age = #"[{ "use": "age", "fresh": "1m", "onError": "7d" }]"#

    @Test func aSavedEntryIsDecodedOnceHoweverOftenItIsRead() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #""cache-first""#, validators: Self.age, foreignStore: false)
            let codec = CountingCodec()
            let feed = kitchen.pantry.resource("feed", codec: codec)
            for _ in 0..<5 { #expect(try await feed.load().value == "text:value") }
            // A handle with an equal codec is the same handle.
            let other = kitchen.pantry.resource("feed", codec: CountingCodec("text", codec.count))
            #expect(try await other.load().value == "text:value")
            #expect(codec.count.value == 1 && kitchen.origin.calls.count == 1)
        }
    }

    @Test func twoCodecsDecodeOnceEach() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #""cache-first""#, validators: Self.age, foreignStore: false)
            let codecs = [CountingCodec("a"), CountingCodec("b")]
            for _ in 0..<3 {
                for codec in codecs {
                    #expect(
                        try await kitchen.pantry.resource("feed", codec: codec).load().value == codec.name + ":value")
                }
                #expect(try await kitchen.feed.load().text == "value")
            }
            #expect(codecs.map(\.count.value) == [1, 1] && kitchen.origin.calls.count == 1)
        }
    }

    @Test func thoseWhoShareACallShareItsDecoding() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#)
            kitchen.origin.play(.value("one", after: .seconds(1)))
            let codec = CountingCodec()
            let feed = kitchen.pantry.resource("feed", codec: codec)
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 { group.addTask { try await feed.load().value } }
                for try await value in group { #expect(value == "text:one") }
            }
            #expect(codec.count.value == 1)
        }
    }

    @Test func aRefreshDecodesWhatIsNewOnceAndWhatIsUnchangedNever() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #""cache-first""#, validators: Self.age, foreignStore: false)
            kitchen.origin.play(.value("one", etag: "1"), .unchanged(), .value("two"))
            let codec = CountingCodec()
            let feed = kitchen.pantry.resource("feed", codec: codec)
            _ = try await feed.load()
            let same = try await feed.load(mode: .refresh)
            #expect(same.value == "text:one" && same.source == .revalidated && codec.count.value == 1)
            #expect(try await feed.load(mode: .refresh).value == "text:two")
            #expect(try await feed.load().value == "text:two")
            #expect(codec.count.value == 2)
        }
    }

    @Test func aCopyFromDiskIsDecodedOnce() throws {
        try SimulatedWorld().run { world in
            let folder = try Folder()
            try folder.write(
                """
                { "resource": "feed", "origin": { "use": "constant", "value": "x" }, "strategy": "cache-first",
                  "validators": ["checksum"], "store": { "use": "tiered", "tiers": ["memory", "file"] } }
                """, to: "feed.json")
            func open() async throws -> Pantry {
                try await Pantry(policies: folder.url, cache: folder.url.appending(path: "cache"), world: world)
            }
            _ = try await open().resource("feed").load()
            let codec = CountingCodec()
            let feed = try await open().resource("feed", codec: codec)
            #expect(try await feed.load().source == .store("file"))
            #expect(codec.count.value == 1)
            for _ in 0..<3 { #expect(try await feed.load().source == .store("memory")) }
            #expect(codec.count.value == 1)
        }
    }

    @Test func aPayloadThatDoesNotDecodeIsAFailureOfTheOriginAndTheCopyStays() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#, validators: Self.age)
            kitchen.stock("copy", age: .seconds(90))
            kitchen.origin.play(then: .value("unreadable"))
            let loaded = try await kitchen.pantry.resource("feed", codec: CountingCodec()).load()
            #expect(loaded.value == "text:copy" && loaded.fellBack && loaded.freshness == .stale)
            #expect(kitchen.store.entries[kitchen.key()]?.text == "copy")
            try await kitchen.feed.clear()
            let feed = kitchen.pantry.resource("feed", codec: CountingCodec())
            let error = await #expect(throws: LoadError.self) { try await feed.load() }
            #expect(error?.code == .undecodable && error?.origin is CountingCodec.Unreadable)
            #expect(kitchen.store.entries.isEmpty)
            // Who takes bytes as they are is served.
            #expect(try await kitchen.feed.load().text == "unreadable")
        }
    }

    @Test func aCopyThatDoesNotDecodeIsNoCopyForThisCodec() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#, validators: Self.age)
            kitchen.stock("unreadable", age: .zero)
            #expect(try await kitchen.feed.load().text == "unreadable")
            let feed = kitchen.pantry.resource("feed", codec: CountingCodec())
            await #expect(throws: LoadError.self) { try await feed.load(mode: .cachedOnly) }
            #expect(try await feed.load().value == "text:value")
        }
    }

    @Test func jsonNestedTooDeepIsAnOriginErrorAndNoTrap() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#, validators: Self.age)
            kitchen.stock("[1]", age: .seconds(90))
            let numbers = kitchen.pantry.resource("feed", as: [Int].self)
            let endless = kitchen.pantry.resource("feed", as: Endless.self)
            // In UTF-16 the first letter of this holds a quote, which could hide brackets from the count.
            let hidden = "[\"\u{122}\"," + String(repeating: "[", count: 513)
            let wide = String(decoding: hidden.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }, as: UTF8.self)
            for text in [
                String(repeating: "[", count: 513), String(repeating: "{\"a\":", count: 100_000), wide,
            ] {
                kitchen.origin.play(then: .value(text))
                let loaded = try await numbers.load()
                #expect(loaded.value == [1] && loaded.fellBack)
            }
            // As deep as may be, and one deeper.
            for (depth, isSound) in [(128, true), (129, false)] {
                let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
                kitchen.origin.play(then: .value(text))
                try await kitchen.pantry.clear()
                if isSound {
                    #expect(try await endless.load().source == .origin)
                } else {
                    let error = await #expect(throws: LoadError.self) { try await endless.load() }
                    #expect(error?.code == .undecodable)
                }
            }
        }
    }

    @Test func bracketsInStringsAreNoDepth() throws {
        let text = #"["\#(String(repeating: "[{", count: 5_000))\"[[", "\\", [[]]]"#
        #expect(throws: DecodingError.self) { try JSONCodec<[Int]>().decode(Data(text.utf8)) }
        #expect(try JSONCodec<[String]>().decode(Data(text.replacing(", [[]]", with: "").utf8)).count == 2)
    }

    /// Lists of lists of lists.
    private struct Endless: Decodable {
        let inner: [Endless]

        init(from decoder: any Decoder) throws {
            inner = try [Endless](from: decoder)
        }
    }
}
