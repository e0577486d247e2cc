import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The metadata of values, and the replies behind errors, as apps see them.
@Suite struct LoadedMetadataTests {
    private static let validators = #"[{ "use": "age", "fresh": "5m" }]"#

    @Test func metadataComesWithLiveAnswersCopiesAndDecodedValues() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.validators, store: #""memory""#)
            simulated.origin.play(
                .answering { _ in
                    Entry(
                        Data("[1]".utf8),
                        Metadata(etag: "e", contentType: "application/json", status: 203, fields: ["Link": "<next>"]))
                })
            let numbers = simulated.pantry.resource("feed", as: [Int].self)
            let live = try await numbers.load()
            let metadata = try #require(live.metadata)
            #expect(metadata.etag == "e" && metadata.contentType == "application/json" && metadata.status == 203)
            #expect(metadata.fields["link"] == "<next>" && metadata.fetchedAt == world.now)
            let copy = try await numbers.load()
            #expect(copy.source == .store("memory") && copy.metadata == metadata)
            #expect(try await simulated.feed.load().metadata == metadata)
            #expect(numbers.answer(numbers.request())?.metadata == metadata)
            #expect(copy.map(\.count).metadata == metadata && copy.map(\.count).map { "\($0)" }.metadata == metadata)
        }
    }

    @Test func updatesHaveMetadata() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: Self.validators)
            simulated.origin.play(.value("a", etag: "e"))
            for try await update in simulated.feed.updates() {
                if case .value(let loaded) = update { #expect(loaded.metadata?.etag == "e") }
                break
            }
        }
    }

    @Test func metadataOfAnEntryIsItsOwnAndThatOfAPlainValueIsNil() {
        let entry = Entry(Data(), Metadata(etag: "e"))
        #expect(Loaded(entry).metadata == entry.metadata && Loaded(entry).map(\.payload).metadata?.etag == "e")
        #expect(Loaded("text").metadata == nil)
    }

    // MARK: Replies

    @Test(arguments: [404, 503]) func replyReachesTheCaller(status: Int) throws {
        let reply = Reply(status: status, fields: ["X-Reason": "quince"], body: Data("quince".utf8))
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-first""#,
                around: #"["breaker", "retry", { "use": "timeout", "after": "9s" }]"#)
            simulated.origin.play(then: .failure(.status(status, retryAfter: .seconds(1), reply: reply)))
            let error = try await simulated.start().failure()
            #expect(error.reply == reply && error.status == status && error.retryAfter == .seconds(1))
            var texts = "\(error) \(String(reflecting: error)) \(error.trail) \(error.event) \(error.message) \(reply)"
            texts += error.trail.steps.map { $0.json.text() }.joined()
            dump(error, to: &texts)
            dump(reply, to: &texts)
            #expect(!texts.contains("quince") && texts.contains("6 bytes"))
        }
    }

    @Test func longBodyIsCut() {
        let exact = Reply(body: Data(repeating: 7, count: Reply.bodyCapacity))
        #expect(exact.body.count == 65_536 && !exact.isTruncated)
        let long = Reply(body: Data(repeating: 7, count: Reply.bodyCapacity + 1))
        #expect(long.body == exact.body && long.isTruncated)
        #expect(LoadError(.failed, "no").reply == nil && LoadError.status(500).reply == nil)
    }
}
