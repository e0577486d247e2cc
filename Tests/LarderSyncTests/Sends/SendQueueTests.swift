import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// A resource without records whose requests survive the end of the process.
@Suite struct SendQueueTests {
    static func policy(_ outbox: String = "{}") -> String {
        #"{ "resource": "likes", "origin": "service", "strategy": "network-only", "outbox": \#(outbox) }"#
    }

    /// A service that keeps what it is sent, and may fail.
    private final class LikeService: Sendable {
        struct State {
            var calls: [Request] = []
            var error: LoadError?
            /// The ids that it refuses.
            var refused: Set<String> = []
        }
        let state = Locked(State())

        var ids: [String] { state.withLock { $0.calls.compactMap { $0.parameters["id"] } } }
        var keys: [String] { state.withLock { $0.calls.compactMap { $0.fields["Idempotency-Key"] } } }

        func fail(_ error: LoadError?) { state.withLock { $0.error = error } }

        func answer(_ request: Request) throws -> String {
            try state.withLock { state in
                state.calls.append(request)
                if let error = state.error { throw error }
                let id = request.parameters["id"] ?? ""
                if state.refused.contains(id) { throw LoadError(.answer, "refused", status: 422) }
                return "thanks for \(id)"
            }
        }
    }

    private static let down = LoadError(.failed, "there is no network")

    private func run(
        _ outbox: String = "{}",
        _ test: @escaping @Sendable (RecordsApp, LikeService, Pantry) async throws -> Void
    ) throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let (app, service) = (try RecordsApp(in: world), LikeService())
            app.changes.withLock { $0 = { try service.answer($1) } }
            let pantry = try await app.pantry(["likes": Self.policy(outbox)])
            try await test(app, service, pantry)
            await pantry.close()
        }
    }

    private static func like(_ id: String, of pantry: Pantry) async throws -> Loaded<Data> {
        let likes = pantry.resource("likes")
        return try await likes.send(likes.request(["id": id], body: Data(#"{"liked":true}"#.utf8)), method: "PUT")
    }

    private static func expect(
        _ id: String, of pantry: Pantry, from source: Source, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await like(id, of: pantry)
        #expect(answer.source == source, sourceLocation: location)
    }

    @Test func answerOfTheServiceIsReturned() throws {
        try run { _, service, pantry in
            let answer = try await Self.like("7", of: pantry)
            #expect(String(decoding: answer.value, as: UTF8.self) == "thanks for 7")
            #expect(answer.source == .origin)
            #expect(service.state.withLock { $0.calls.first?.body } == Data(#"{"liked":true}"#.utf8))
            #expect(service.keys.count == 1)
            // Nothing is left of it.
            #expect(try await pantry.records("likes").query().records.isEmpty)
            let books = try await pantry.records("likes").books()
            #expect(books.made == 1 && books.accepted == 1 && books.pending == 0)
        }
    }

    @Test func requestThatWaitsArrivesAfterTheEndOfTheProcess() throws {
        try run { app, service, pantry in
            service.fail(Self.down)
            let answer = try await Self.like("7", of: pantry)
            #expect(answer.source == .store("outbox") && answer.isStored && answer.value.isEmpty)
            _ = try await Self.like("8", of: pantry)
            #expect(try await pantry.records("likes").query().records.count == 2)
            // The process ends, and nobody sends anything in the next one.
            await pantry.close()
            service.fail(nil)
            let next = try await app.pantry(["likes": Self.policy()])
            try await app.world.sleep(for: .seconds(10))
            #expect(service.ids == ["7", "7", "8"])
            #expect(Set(service.keys).count == 2 && service.keys[0] == service.keys[1])
            #expect(try await next.records("likes").query().records.isEmpty)
            await next.close()
        }
    }

    @Test func requestsWaitInOneLine() throws {
        try run { app, service, pantry in
            service.fail(LoadError(.answer, "down", status: 503))
            for number in 1...5 { _ = try await Self.like("\(number)", of: pantry) }
            #expect(Set(service.ids) == ["1"])
            let before = service.ids.count
            service.fail(nil)
            try await app.world.sleep(for: .seconds(120))
            #expect(Array(service.ids.dropFirst(before)) == ["1", "2", "3", "4", "5"])
        }
    }

    @Test func requestsOfOtherValuesDoNotWait() throws {
        try run(#"{ "order": ["id"] }"#) { app, service, pantry in
            app.changes.withLock {
                $0 = { _, request in
                    let answer = try service.answer(request)
                    if request.parameters["id"] == "1" { throw LoadError(.answer, "down", status: 503) }
                    return answer
                }
            }
            try await Self.expect("1", of: pantry, from: .store("outbox"))
            try await Self.expect("2", of: pantry, from: .origin)
            try await Self.expect("1", of: pantry, from: .store("outbox"))
            #expect(service.ids.filter { $0 == "2" }.count == 1)
            // The second one with this value has never been sent before the first.
            #expect(Set(service.keys).count == 2)
        }
    }

    @Test func refusedRequestIsAnErrorAndKept() throws {
        try run { app, service, pantry in
            service.state.withLock { $0.refused = ["7"] }
            let error = await #expect(throws: LoadError.self) { _ = try await Self.like("7", of: pantry) }
            #expect(error?.status == 422)
            try await Self.expect("8", of: pantry, from: .origin)
            let letters = try await pantry.records("likes").rejected()
            #expect(letters.map(\.status) == [422])
            // The app corrects it, and it is sent.
            try await letters.first?.restore {
                $0 = $0.setting(["parameters", "id"], to: JSONText(string: "9"))
            }
            try await app.world.sleep(for: .seconds(5))
            #expect(service.ids == ["7", "8", "9"])
        }
    }

    @Test func waitThatTheServiceAsksForIsHeeded() throws {
        try run { app, service, pantry in
            service.fail(LoadError(.answer, "busy", status: 429, retryAfter: .seconds(30)))
            _ = try await Self.like("1", of: pantry)
            service.fail(nil)
            // Another request does not end the wait.
            _ = try await Self.like("2", of: pantry)
            try await app.world.sleep(for: .seconds(28))
            #expect(service.ids == ["1"])
            try await app.world.sleep(for: .seconds(5))
            #expect(service.ids == ["1", "1", "2"])
        }
    }

    @Test func pageOfANetworkIsNoAnswer() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let (app, isHotel) = (try RecordsApp(in: world), Locked(true))
            let hotel = Plugin.origin("hotel", "A network with a page.", traits: { .with { $0.acceptsSends = true } }) {
                _ in
                AnsweringFunction { _ in
                    var metadata = Metadata(fetchedAt: world.now)
                    metadata.contentType = isHotel.withLock { $0 } ? "text/html; charset=utf-8" : "application/json"
                    return Loaded(Entry(Data("{}".utf8), metadata), from: .origin)
                }
            }
            let files = app.folder.url.appending(path: "policies")
            try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
            let policy = Self.policy().replacing(#""origin": "service""#, with: #""origin": "hotel""#)
            try Data(policy.utf8).write(to: files.appending(path: "likes.json"))
            let pantry = try await Pantry(
                policies: files, registry: try .standard.adding(.sync).adding([hotel]),
                cache: app.folder.url.appending(path: "cache"), data: app.folder.url.appending(path: "data"),
                environment: [:], world: world)
            try await Self.expect("7", of: pantry, from: .store("outbox"))
            isHotel.withLock { $0 = false }
            try await world.sleep(for: .seconds(5))
            #expect(try await pantry.records("likes").books().accepted == 1)
            await pantry.close()
        }
    }

    @Test func olderRequestsAreNotSentButKept() throws {
        try run(#"{ "retention": "1m", "limit": "30s" }"#) { app, service, pantry in
            service.fail(Self.down)
            _ = try await Self.like("1", of: pantry)
            _ = try await Self.like("2", of: pantry)
            try await app.world.sleep(for: .seconds(61))
            let calls = service.ids.count
            service.fail(nil)
            try await Self.expect("3", of: pantry, from: .origin)
            #expect(Array(service.ids.dropFirst(calls)) == ["3"])
            let letters = try await pantry.records("likes").rejected()
            #expect(letters.map(\.reason) == [.expired, .expired])
        }
    }

    @Test func fullQueueRefuses() throws {
        try run(#"{ "most": 2 }"#) { _, service, pantry in
            service.fail(Self.down)
            for number in 1...2 { _ = try await Self.like("\(number)", of: pantry) }
            let error = await #expect(throws: LoadError.self) { _ = try await Self.like("3", of: pantry) }
            #expect(error?.description.contains("the queue takes no more") == true, "\(String(describing: error))")
            #expect(try await pantry.records("likes").query().records.count == 2)
        }
    }

    @Test func callerWaitsNoLongerThanItsDeadline() throws {
        try run { app, service, pantry in
            app.changes.withLock {
                $0 = { _, request in
                    try await app.world.sleep(for: .seconds(20))
                    return try service.answer(request)
                }
            }
            let likes = pantry.resource("likes")
            let answer = try await likes.send(likes.request(["id": "7"], deadline: .seconds(1)))
            #expect(answer.source == .store("outbox"))
            try await app.world.sleep(for: .seconds(30))
            #expect(service.ids == ["7"])
        }
    }

    @Test func requestOfAPolicyWithoutTheSectionWaitsForItsReturn() throws {
        try run { app, service, pantry in
            service.fail(Self.down)
            _ = try await Self.like("1", of: pantry)
            let plain = Self.policy().replacing(#", "outbox": {}"#, with: "")
            try await app.change("likes", plain, of: pantry)
            await #expect(throws: LoadError.self) { _ = try await Self.like("2", of: pantry) }
            service.fail(nil)
            try await app.world.sleep(for: .seconds(3_600))
            let calls = service.ids.count
            try await app.change("likes", Self.policy(), of: pantry)
            try await app.world.sleep(for: .seconds(10))
            #expect(Array(service.ids.dropFirst(calls)) == ["1"])
        }
    }

    @Test func requestOfAScopeIsAnsweredAtOnce() throws {
        try run { app, service, pantry in
            // The first run looks at all accounts.
            try await app.world.sleep(for: .seconds(10))
            let likes = pantry.resource("likes")
            let answer = try await likes.send(likes.request(["id": "7"], scope: "alice"))
            #expect(answer.source == .origin)
            #expect(service.ids == ["7"])
            #expect(try await pantry.records("likes", scope: "alice").books().accepted == 1)
        }
    }

    @Test func requestThatTheOriginCannotTakeIsNotKept() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let http = Self.policy().replacing(
                #""origin": "service""#, with: #""origin": { "use": "http", "url": "https://api.example.com/{id}" }"#)
            let pantry = try await RecordsApp(in: world).pantry(["likes": http])
            let likes = pantry.resource("likes")
            let error = await #expect(throws: LoadError.self) { try await likes.send(likes.request()) }
            #expect(error?.code == .invalidRequest)
            #expect(try await pantry.records("likes").query().records.isEmpty)
            await pantry.close()
        }
    }

    /// A reload may make a resource with requests one with records, and back. Neither is sent as the other.
    @Test func requestsAreNoRecordsAndRecordsNoRequests() throws {
        let records = """
            { "resource": "likes", "origin": "service", "records": { "id": "/id", "push": "rest" } }
            """
        try run { app, service, pantry in
            app.changes.withLock {
                $0 = { _, request in
                    _ = try service.answer(request)
                    return "{}"
                }
            }
            service.fail(Self.down)
            _ = try await Self.like("1", of: pantry)
            try await app.change("likes", records, of: pantry)
            try await pantry.records("likes").create(try JSONText(#"{"id":"r","a":1}"#.utf8))
            try await pantry.records("likes").create(try JSONText(#"{"id":"s","a":1}"#.utf8))
            let calls = service.state.withLock { $0.calls.count }
            try await app.change("likes", Self.policy(), of: pantry)
            service.fail(nil)
            try await app.world.sleep(for: .seconds(10))
            // The request has arrived, and the records wait for their policy.
            #expect(service.state.withLock { $0.calls.dropFirst(calls).map(\.parameters["id"]) } == ["1"])
            #expect(try await pantry.records("likes").books().pending == 2)
            try await app.change("likes", records, of: pantry)
            try await app.world.sleep(for: .seconds(10))
            #expect(try await pantry.records("likes").books().pending == 0)
            #expect(try await pantry.records("likes").rejected().isEmpty)
        }
    }

    /// As an extension does, the second process begins nothing by itself, so nothing has opened the queue.
    @Test func clearingReachesRequestsOfAFormerProcess() throws {
        try run { app, service, pantry in
            service.fail(Self.down)
            _ = try await Self.like("1", of: pantry)
            await pantry.close()
            let origin = Plugin.origin("service", "Answers nothing.", traits: { .with { $0.acceptsSends = true } }) {
                _ in
                AnsweringFunction { _ in throw Self.down }
            }
            let reader = try PolicyReader(
                registry: .standard.adding(.sync).adding([origin]), texts: ["likes": Self.policy()], files: nil,
                environment: [:])
            let next = try await Pantry(
                reader: reader, cache: app.folder.url.appending(path: "cache"),
                data: app.folder.url.appending(path: "data"), world: app.world, allowsBackgroundWork: false)
            try await next.clear(.all, discardingUnsent: true)
            let books = try await next.records("likes").books()
            #expect(books.discarded == 1 && books.pending == 0)
            await next.close()
        }
    }

    @Test func deletionThatWasDoneBeforeIsNoRefusal() throws {
        try run { app, service, pantry in
            service.fail(Self.down)
            let likes = pantry.resource("likes")
            _ = try await likes.send(likes.request(["id": "7"]), method: "DELETE")
            service.fail(.status(404))
            try await app.world.sleep(for: .seconds(5))
            #expect(try await pantry.records("likes").books().accepted == 1)
            #expect(try await pantry.records("likes").rejected().isEmpty)
        }
    }

    @Test func linesThatFailDelayNoOthers() throws {
        let simulated = SimulatedWorld(seed: 1)
        try simulated.run(leaving: .anything) { world in
            let (app, service) = (try RecordsApp(in: world), LikeService())
            app.changes.withLock {
                $0 = { _, request in
                    let answer = try service.answer(request)
                    if (request.parameters["id"] ?? "").hasPrefix("bad") { throw LoadError.status(500) }
                    return answer
                }
            }
            let pantry = try await app.pantry(["likes": Self.policy(#"{ "order": ["id"], "jitter": 0 }"#)])
            // As many as are sent at once, twice.
            for number in 1...8 { _ = try await Self.like("bad\(number)", of: pantry) }
            simulated.network = .offline
            _ = try await Self.like("good", of: pantry)
            // All of them are due now.
            simulated.network = NetworkState(.online)
            try await world.sleep(for: SyncTimetable.spread + .milliseconds(100))
            #expect(service.ids.contains("good"))
            await pantry.close()
        }
    }

    @Test func correctedRequestWaitsInItsNewLine() throws {
        try run(#"{ "order": ["id"] }"#) { app, service, pantry in
            service.state.withLock { $0.refused = ["7"] }
            await #expect(throws: LoadError.self) { _ = try await Self.like("7", of: pantry) }
            service.fail(LoadError(.answer, "down", status: 503))
            _ = try await Self.like("9", of: pantry)
            let calls = service.ids.count
            try await pantry.records("likes").rejected().first?.restore {
                $0 = $0.setting(["parameters", "id"], to: JSONText(string: "9"))
            }
            service.fail(nil)
            try await app.world.sleep(for: .seconds(30))
            #expect(Array(service.ids.dropFirst(calls)) == ["9", "9"])
            #expect(Set(service.keys.suffix(2)).count == 2)
        }
    }

    @Test func lettersAreForgottenAfterNinetyDays() throws {
        try run { app, service, pantry in
            service.state.withLock { $0.refused = ["7"] }
            await #expect(throws: LoadError.self) { _ = try await Self.like("7", of: pantry) }
            try await app.world.sleep(for: .seconds(91 * 86_400))
            #expect(try await pantry.records("likes").rejected().count == 1)
            _ = try await Self.like("8", of: pantry)
            #expect(try await pantry.records("likes").rejected().isEmpty)
        }
    }

    @Test func copiesAreOutOfDateWhenTheServiceHasTheChange() throws {
        let policy = """
            { "resource": "likes", "origin": "service", "strategy": "cache-first", "store": "memory",
              "validators": [{ "use": "age", "fresh": "1h" }], "outbox": {} }
            """
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let (app, service) = (try RecordsApp(in: world), LikeService())
            app.service.withLock { $0 = { _ in "\(service.ids.count)" } }
            app.changes.withLock { $0 = { try service.answer($1) } }
            let pantry = try await app.pantry(["likes": policy])
            let likes = pantry.resource("likes")
            let request = likes.request(["id": "7"])
            _ = try await likes.load(request)
            service.fail(Self.down)
            _ = try await likes.send(request, invalidating: [.key(request.key)])
            #expect(try await likes.load(request).source == .store("memory"))
            service.fail(nil)
            try await world.sleep(for: .seconds(5))
            #expect(try await likes.load(request).source == .origin)
            await pantry.close()
        }
    }

    @Test(arguments: [nil, Data("text".utf8), Data([0xFF, 0x00, 0x80]), Data()])
    func requestComesBackFromItsRecord(body: Data?) throws {
        let send = QueuedSend(
            method: "PUT", parameters: ["id": "7", "q": "a \"b\""], fields: ["X-A": "1", "x-a": "2"], body: body,
            tags: ["t"])
        #expect(QueuedSend(send.record(id: "one")) == send)
    }

    @Test(arguments: [
        "{}", "[]", #"{"method":1,"parameters":{}}"#, #"{"method":"PUT","parameters":{"a":[]}}"#,
        #"{"method":"PUT","parameters":{},"base64":"?"}"#, #"{"method":"PUT","parameters":{},"body":{}}"#,
        #"{"method":"PUT","parameters":{},"fields":[{"name":"a\nb","value":"c"}]}"#,
    ])
    func recordThatIsNoRequestIsNotSent(text: String) throws {
        let record = try JSONText(text.utf8)
        #expect(QueuedSend(record) == nil)
    }
}

/// An origin that a function answers.
private struct AnsweringFunction: Loader {
    let answer: @Sendable (Call) async throws -> Loaded<Entry>

    func load(_ call: Call) async throws -> Loaded<Entry> { try await answer(call) }
}
