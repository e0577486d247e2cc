import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Calls that are shared by callers with other fields, and answers that match no other request.
@Suite struct VariantSharingTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "onError": "7d" }]"#

    private func run(
        isStoreForeign: Bool = true, _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.windows, isStoreForeign: isStoreForeign)
            try await test(simulated)
        }
    }

    /// Starts loads in several languages at a time.
    private func crowd(
        _ simulated: SimulatedPantry, _ languages: [String], traces: Bool = false
    ) -> [(language: String, load: Started<Loaded<Data>>)] {
        languages.enumerated().map { number, language in
            let trace = traces ? "\(number)" : nil
            return (language, simulated.start(simulated.request(in: language, mode: .refresh, trace: trace)))
        }
    }

    private static let languages = (0..<500).map { ["de", "fr", "it", "pt"][$0 % 4] }

    // MARK: Sharing

    @Test(arguments: [false, true]) func answerThatTurnsOutToVaryCostsOneCallForEachVariant(_ traces: Bool) throws {
        try run { simulated in
            simulated.origin.play(then: .language(after: .milliseconds(50)))
            simulated.origin.play(.value("same"))
            _ = try await simulated.feed.load(simulated.request(in: "de"))
            for (language, load) in crowd(simulated, Self.languages, traces: traces) {
                #expect(try await load.value().text == language)
            }
            #expect(simulated.origin.calls.count == 1 + 4)
            let again = simulated.start(simulated.request(in: "fr"))
            #expect(try await again.value().source == .store("faulty"))
        }
    }

    @Test func answersThatMatchNoOtherRequestCostOneCallForEachSetOfFields() throws {
        try run { simulated in
            simulated.origin.play(then: .language(after: .milliseconds(50), variesBy: ["*"]))
            simulated.origin.play(.value("same"))
            _ = try await simulated.feed.load(simulated.request(in: "de"))
            for calls in [1 + 4, 1 + 4 + 4] {
                for (language, load) in crowd(simulated, Self.languages) {
                    #expect(try await load.value().text == language)
                }
                #expect(simulated.origin.calls.count == calls)
            }
        }
    }

    @Test func callersWhoseAnswersKeepVaryingByOtherFieldsGetTheirOwn() throws {
        try run { simulated in
            simulated.origin.play(
                then: .answering(after: .milliseconds(50)) { call in
                    var metadata = Metadata()
                    metadata.variesBy = ["x-trace", "accept-language"]
                    let fields = call.request.fields
                    return Entry(Data(((fields["Accept-Language"] ?? "") + (fields["X-Trace"] ?? "")).utf8), metadata)
                })
            simulated.origin.play(.language(), .language(after: .milliseconds(50)))
            _ = try await simulated.feed.load(simulated.request(in: "de"))
            _ = try await simulated.feed.load(simulated.request(in: "de", mode: .refresh))
            let loads = (0..<100).map { ($0 % 2, simulated.request(in: "de", mode: .refresh, trace: "\($0 % 2)")) }
                .map { ($0.0, simulated.start($0.1)) }
            for (trace, load) in loads { #expect(try await load.value().text == "de\(trace)") }
            #expect(simulated.origin.calls.count == 2 + 2)
        }
    }

    // MARK: Answers that match no other request

    private static let tooMany = (0..<33).map { "x-\($0)" }

    @Test(arguments: [["*"], ["Accept-Language", "*"], tooMany])
    func answerThatMatchesNoOtherRequestDoesNotKeepLaterAnswersFromBeingSaved(_ names: [String]) throws {
        try run { simulated in
            simulated.origin.play(.language(variesBy: names), .language(), .language())
            let unkept = try await simulated.feed.load(simulated.request(in: "de"))
            #expect(!unkept.isStored)
            for language in ["de", "fr"] {
                #expect(try await simulated.feed.load(simulated.request(in: language)).isStored)
                #expect(try await simulated.feed.load(simulated.request(in: language)).source == .store("faulty"))
            }
        }
    }

    @Test func answerThatMatchesNoOtherRequestLeavesOtherVariantsAlone() throws {
        try run { simulated in
            simulated.origin.play(.language(), .language(), .value("newer", variesBy: ["*"]), .failure(.status(503)))
            for language in ["de", "fr"] { _ = try await simulated.feed.load(simulated.request(in: language)) }
            let newer = try await simulated.feed.load(simulated.request(in: "de", mode: .refresh))
            #expect(!newer.isStored && newer.trail.lines.contains { $0.contains("matches no other request") })
            #expect(try await simulated.feed.load(simulated.request(in: "fr")).freshness == .fresh)
            let older = try await simulated.feed.load(simulated.request(in: "de"))
            #expect(
                older.text == "de" && older.freshness == .stale && older.fellBack,
                "the older copy is shown when the origin fails")
        }
    }

    @Test func answersThatVaryByTooManyFieldsTogetherAreNotKept() throws {
        try run { simulated in
            let names = (0..<40).map { "x-\($0)" }
            simulated.origin.play(
                .language(variesBy: Array(names[..<20])), .language(variesBy: Array(names[20...])), .language())
            #expect(try await simulated.feed.load(simulated.request(in: "de")).isStored)
            let second = try await simulated.feed.load(simulated.request(in: "de", mode: .refresh))
            #expect(!second.isStored && second.trail.lines.contains { $0.contains("matches no other request") })
            #expect(try await simulated.feed.load(simulated.request(in: "de", mode: .refresh)).isStored)
        }
    }

    @Test func unchangedAnswerThatMatchesNoOtherRequestRemovesTheCopy() throws {
        try run { simulated in
            simulated.origin.play(.language(etag: "e"), .unchanged { $0.variesBy = ["*"] })
            _ = try await simulated.feed.load(simulated.request(in: "de"))
            let loaded = try await simulated.feed.load(simulated.request(in: "de", mode: .refresh))
            #expect(loaded.source == .revalidated && loaded.text == "de" && !loaded.isStored)
            #expect(try await simulated.feed.contains(simulated.request(in: "de")) == false)
        }
    }
}
