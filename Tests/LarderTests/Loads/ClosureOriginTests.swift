import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// An app's service as the closure of an origin that returns values.
@Suite struct ClosureOriginTests {
    struct Price: Codable, Equatable, Sendable {
        var cents: Int
        var currencyName = "euro"
        var at = Timestamp(seconds: 1_767_571_200).date
    }

    /// A service whose JSON has keys in snake case and dates as text.
    enum ServiceJSON: JSONFormat {
        static func configure(_ decoder: JSONDecoder) {
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            decoder.dateDecodingStrategy = .iso8601
        }

        static func configure(_ encoder: JSONEncoder) {
            encoder.keyEncodingStrategy = .convertToSnakeCase
            encoder.dateEncodingStrategy = .iso8601
        }
    }

    enum LenientJSON: JSONFormat {
        static func configure(_ decoder: JSONDecoder) { decoder.allowsJSON5 = true }
    }

    private static let age = #"[{ "use": "age", "fresh": "1m", "onError": "7d" }]"#

    private static func simulated(_ world: SimulatedWorld, _ origin: Plugin) async throws -> SimulatedPantry {
        try await SimulatedPantry(
            world, strategy: #""cache-first""#, validators: age, plugins: [origin], origin: #""prices""#)
    }

    @Test func closureValueLoadsAsItsType() throws {
        try SimulatedWorld().run { world in
            let origin = Plugin.origin("prices", returning: Price.self) { call in
                Price(cents: call.request.parameters.count)
            }
            let simulated = try await Self.simulated(world, origin)
            let prices = simulated.pantry.resource("feed", as: Price.self)
            #expect(try await prices.load(["id": "7"]).value == Price(cents: 1))
            #expect(try await prices.load(["id": "7"]).source == .store("faulty"))
            let entry = try #require(simulated.store.entries[simulated.key(["id": "7"])])
            #expect(entry.metadata.contentType == "application/json" && !entry.metadata.hasCondition)
            #expect(entry.text.hasPrefix(#"{"at":"#) && entry.text.contains(#""cents":1,"currencyName":"euro""#))
        }
    }

    @Test func valueWithETagIsRevalidatedAndKeptIfUnchanged() throws {
        try SimulatedWorld().run { world in
            let calls = Locked<[String?]>([])
            let origin = Plugin.origin("prices", returning: [Int].self) { call in
                calls.withLock { $0.append(call.known?.metadata.etag) }
                if call.known?.metadata.etag == "v1" { return try .unchanged(call) }
                return Fetched([1, 2], etag: "v1", tags: ["shop"])
            }
            let simulated = try await Self.simulated(world, origin)
            let prices = simulated.pantry.resource("feed", as: [Int].self)
            #expect(try await prices.load().source == .origin)
            try await world.sleep(for: .seconds(60))
            let again = try await prices.load()
            #expect(again.value == [1, 2] && again.source == .revalidated)
            #expect(calls.withLock { $0 } == [nil, "v1"])
            #expect(simulated.store.entries[simulated.key()]?.metadata.tags == ["shop"])
        }
    }

    @Test func unchangedWithoutKnownCopyFails() throws {
        try SimulatedWorld().run { world in
            let origin = Plugin.origin("prices", returning: [Int].self) { call in try Fetched.unchanged(call) }
            let simulated = try await Self.simulated(world, origin)
            let error = await #expect(throws: LoadError.self) { try await simulated.feed.load() }
            #expect(error?.code == .failed)
        }
    }

    @Test func formatIsUsedForEncodingAndDecoding() throws {
        try SimulatedWorld().run { world in
            let origin = Plugin.origin("prices", returning: Price.self, format: ServiceJSON.self) { _ in Price(cents: 5)
            }
            let simulated = try await Self.simulated(world, origin)
            let prices = simulated.pantry.resource("feed", codec: JSONCodec<Price>(format: ServiceJSON.self))
            #expect(try await prices.load().value == Price(cents: 5))
            #expect(
                simulated.store.entries[simulated.key()]?.text
                    == #"{"at":"2026-01-05T00:00:00Z","cents":5,"currency_name":"euro"}"#)
            // The default settings do not read this.
            let plain = simulated.pantry.resource("feed", as: Price.self)
            await #expect(throws: LoadError.self) { try await plain.load(mode: .cachedOnly) }
        }
    }

    @Test func codecsAreEqualIfTheirFormatsAre() {
        let codecs = [
            JSONCodec<Price>(), JSONCodec<Price>(format: ServiceJSON.self), JSONCodec<Price>(format: LenientJSON.self),
        ]
        #expect(Set(codecs + codecs).count == 3)
        #expect(JSONCodec<Price>(format: ServiceJSON.self) == JSONCodec<Price>(format: ServiceJSON.self))
        #expect(AnyHashable(JSONCodec<Int>(format: ServiceJSON.self)) != AnyHashable(codecs[1]))
    }

    /// Brackets after comments and strings of JSON5, which the depth check must count as a decoder does.
    @Test(arguments: [
        "// \"\n", "// '\r", "/* \" */", "/* ' * / \" **/", "/**/", "['\"',", "[\"'\",", "['\\'',", "{a:'/*',b:",
        "[1,//]\n",
    ])
    func nothingHidesBracketsFromTheCount(_ before: String) {
        let text = before + String(repeating: "[", count: 513)
        let data = Data(text.utf8)
        #expect(throws: DecodingError.self) { try JSONCodec<[Int]>(format: LenientJSON.self).decode(data) }
        #expect(throws: DecodingError.self) { try JSONCodec<[Int]>(format: ServiceJSON.self).decode(data) }
    }

    @Test func json5IsReadWhereAFormatAllowsIt() throws {
        let text = #"[ 'a [[[ // ', "b", /* \#(String(repeating: "[", count: 600)) */ ] // "#
        #expect(try JSONCodec<[String]>(format: LenientJSON.self).decode(Data(text.utf8)) == ["a [[[ // ", "b"])
        #expect(throws: DecodingError.self) { try JSONCodec<[String]>().decode(Data(text.utf8)) }
        // In plain JSON these characters have no special meaning.
        #expect(try JSONCodec<[String]>().decode(Data(#"["it's", "a//b", "/*"]"#.utf8)).count == 3)
    }
}

extension Timestamp {
    fileprivate var date: Date { Date(timeIntervalSince1970: Double(nanoseconds) / 1e9) }
}
