import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct DecodingTests {
    private static let age = #"[{ "use": "age", "fresh": "1m", "onError": "7d" }]"#

    @Test func savedEntryIsDecodedOnceForManyReads() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.age, isStoreForeign: false)
            let codec = CountingCodec()
            let feed = simulated.pantry.resource("feed", codec: codec)
            for _ in 0..<5 { #expect(try await feed.load().value == "text:value") }
            // A handle with an equal codec is the same handle.
            let other = simulated.pantry.resource("feed", codec: CountingCodec("text", codec.count))
            #expect(try await other.load().value == "text:value")
            #expect(codec.count.value == 1 && simulated.origin.calls.count == 1)
        }
    }

    @Test func eachOfTwoCodecsDecodesOnce() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.age, isStoreForeign: false)
            let codecs = [CountingCodec("a"), CountingCodec("b")]
            for _ in 0..<3 {
                for codec in codecs {
                    #expect(
                        try await simulated.pantry.resource("feed", codec: codec).load().value == codec.name + ":value")
                }
                #expect(try await simulated.feed.load().text == "value")
            }
            #expect(codecs.map(\.count.value) == [1, 1] && simulated.origin.calls.count == 1)
        }
    }

    @Test func loadsThatShareCallShareDecoding() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            simulated.origin.play(.value("one", after: .seconds(1)))
            let codec = CountingCodec()
            let feed = simulated.pantry.resource("feed", codec: codec)
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 { group.addTask { try await feed.load().value } }
                for try await value in group { #expect(value == "text:one") }
            }
            #expect(codec.count.value == 1)
        }
    }

    @Test func refreshDecodesNewPayloadOnceAndUnchangedPayloadNever() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.age, isStoreForeign: false)
            simulated.origin.play(.value("one", etag: "1"), .unchanged(), .value("two"))
            let codec = CountingCodec()
            let feed = simulated.pantry.resource("feed", codec: codec)
            _ = try await feed.load()
            let same = try await feed.load(mode: .refresh)
            #expect(same.value == "text:one" && same.source == .revalidated && codec.count.value == 1)
            #expect(try await feed.load(mode: .refresh).value == "text:two")
            #expect(try await feed.load().value == "text:two")
            #expect(codec.count.value == 2)
        }
    }

    @Test func copyFromDiskIsDecodedOnce() throws {
        try SimulatedWorld().run { world in
            let policy = """
                { "resource": "feed", "origin": { "use": "constant", "value": "x" }, "strategy": "cache-first",
                  "validators": ["checksum"], "store": { "use": "tiered", "tiers": ["memory", "file"] } }
                """
            let cache = try TemporaryFolder()
            func open() async throws -> Pantry {
                try await SimulatedPantry(["feed": policy], in: world, cache: cache).pantry
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

    @Test func undecodablePayloadIsOriginFailureAndCopyStays() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#, validators: Self.age)
            simulated.stock("copy", age: .seconds(90))
            simulated.origin.play(then: .value("unreadable"))
            let loaded = try await simulated.pantry.resource("feed", codec: CountingCodec()).load()
            #expect(loaded.value == "text:copy" && loaded.fellBack && loaded.freshness == .stale)
            #expect(simulated.store.entries[simulated.key()]?.text == "copy")
            try await simulated.feed.clear()
            let feed = simulated.pantry.resource("feed", codec: CountingCodec())
            let error = await #expect(throws: LoadError.self) { try await feed.load() }
            #expect(error?.code == .undecodable && error?.origin is CountingCodec.Unreadable)
            #expect(simulated.store.entries.isEmpty)
            // A load of plain bytes is served.
            #expect(try await simulated.feed.load().text == "unreadable")
        }
    }

    @Test func loadsWithDifferentCodecsShareNoCall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#, validators: Self.age)
            simulated.origin.play(then: .value("unreadable", after: .seconds(1)))
            let bytes = simulated.start()
            try await world.settle()
            let feed = simulated.pantry.resource("feed", codec: CountingCodec())
            let error = await #expect(throws: LoadError.self) { try await feed.load() }
            #expect(error?.code == .undecodable)
            #expect(try await bytes.value().text == "unreadable")
            #expect(simulated.origin.calls.count == 2 && simulated.feed.metrics.coalesced == 0)
        }
    }

    @Test func undecodableCopyIsMissForThisCodec() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.age)
            simulated.stock("unreadable", age: .zero)
            #expect(try await simulated.feed.load().text == "unreadable")
            let feed = simulated.pantry.resource("feed", codec: CountingCodec())
            await #expect(throws: LoadError.self) { try await feed.load(mode: .cachedOnly) }
            #expect(try await feed.load().value == "text:value")
        }
    }

    @Test func tooDeeplyNestedJSONIsOriginError() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#, validators: Self.age)
            simulated.stock("[1]", age: .seconds(90))
            let numbers = simulated.pantry.resource("feed", as: [Int].self)
            let endless = simulated.pantry.resource("feed", as: Endless.self)
            // In UTF-16 the first letter of this holds a quote, which could hide brackets from the count.
            let hidden = "[\"\u{122}\"," + String(repeating: "[", count: 513)
            let wide = String(decoding: hidden.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }, as: UTF8.self)
            for text in [
                String(repeating: "[", count: 513), String(repeating: "{\"a\":", count: 100_000), wide,
            ] {
                simulated.origin.play(then: .value(text))
                let loaded = try await numbers.load()
                #expect(loaded.value == [1] && loaded.fellBack)
            }
            // The largest depth that is allowed, and one more.
            for (depth, isSound) in [(128, true), (129, false)] {
                let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
                simulated.origin.play(then: .value(text))
                try await simulated.pantry.clear()
                if isSound {
                    #expect(try await endless.load().source == .origin)
                } else {
                    let error = await #expect(throws: LoadError.self) { try await endless.load() }
                    #expect(error?.code == .undecodable)
                }
            }
        }
    }

    @Test func bracketsInStringsDoNotCountAsDepth() throws {
        let text = #"["\#(String(repeating: "[{", count: 5_000))\"[[", "\\", [[]]]"#
        #expect(throws: DecodingError.self) { try JSONCodec<[Int]>().decode(Data(text.utf8)) }
        #expect(try JSONCodec<[String]>().decode(Data(text.replacing(", [[]]", with: "").utf8)).count == 2)
    }

    /// A list of nested lists.
    private struct Endless: Decodable {
        let inner: [Endless]

        init(from decoder: any Decoder) throws {
            inner = try [Endless](from: decoder)
        }
    }

    private struct Offer: Codable, Sendable {
        struct Item: Codable, Sendable { let price: Int }
        let items: [Item]
        let names: [String: Int]
    }

    @Test(arguments: [
        (#"{ "items": [{ "price": 1 }, {}], "names": {} }"#, "items[1].price is missing"),
        (#"{ "items": [{ "price": "a" }], "names": {} }"#, "items[0].price is not of the type Int"),
        (#"{ "items": null, "names": {} }"#, "items is null"),
        (#"{ "items": [], "names": { "secret": "x" } }"#, "names.… is not of the type Int"),
        (#"{ "items": [], "names": { "4915123456789": "x" } }"#, "names.… is not of the type Int"),
        ("{", "it is damaged"),
    ]) func errorOfDecodingSaysWhereAndQuotesNothing(_ payload: String, place: String) throws {
        let policy = #"{ "resource": "feed", "origin": "scripted", "strategy": "network-only" }"#
        try SimulatedPantry.run(["feed": policy]) { simulated in
            simulated.origin.play(then: .value(payload))
            let feed = simulated.pantry.resource("feed", as: Offer.self)
            let error = await #expect(throws: LoadError.self) { try await feed.load() }
            #expect(error?.code == .undecodable)
            #expect(error?.message == "payload does not decode: \(place)")
        }
    }
}
