import Larder
import LarderFoundation
import LarderSimulation
import LarderSync
import LarderSystem
import Testing

@Suite struct RecordScreensArticleTests {
    private static let page: String = {
        let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let path = root.appending(path: "Sources/LarderSync/LarderSync.docc/RecordsOnAScreen.md")
        return (try? String(contentsOf: path, encoding: .utf8)) ?? ""
    }()

    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test func pageShowsTheCompiledCode() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "RecordScreensArticle.swift")
        let code = Self.words(try String(contentsOf: file, encoding: .utf8))
        let blocks = Self.page.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(blocks.count == 6)
        for block in blocks { #expect(code.contains(Self.words(block)), "not in the code: \(block)") }
    }

    private static let policy = """
        { "resource": "collections", "origin": "signed",
          "records": { "id": "/id", "version": "/v", "pull": "all", "push": "rest", "conflict": "ask" },
          "outbox": { "onReject": "keep" } }
        """

    @Test func screenSaysTheWordsOfThePage() throws {
        let simulated = SimulatedWorld(seed: 1)
        try simulated.run(leaving: .anything) { world in
            let (service, app, screen) = (RestService(), try RecordsApp(in: world), RecordScreensArticle.Screen())
            app.use(service)
            app.account.withLock { $0 = "alice" }
            let pantry = try await app.pantry(["collections": Self.policy])
            let collections = pantry.records("collections", of: RecordScreensArticle.Collection.self)
            let (mine, sync) = RecordScreensArticle.open(pantry)
            func expect(_ texts: [String], at location: SourceLocation = #_sourceLocation) async throws {
                try await world.sleep(for: .milliseconds(1))
                RecordScreensArticle.draw(mine, sync, screen)
                #expect(screen.shown() == texts, sourceLocation: location)
                // Each banner is in the table of the page.
                if let banner = sync.status.banner {
                    let words = banner.replacing(/[0-9]+/, with: "3")
                    #expect(Self.page.contains("| \(words) |"), "\(words)")
                }
            }
            RecordScreensArticle.draw(mine, sync, screen)
            #expect(screen.shown() == ["…"])
            try await collections.sync()
            try await expect([])

            simulated.network = .offline
            let made = try await collections.create(RecordScreensArticle.Collection(id: "a", name: "Ramen"))
            try await expect(["Ramen, saved on this device", "Saved on this device. Waits for a network"])
            try await RecordScreensArticle.explain(pantry, screen)
            #expect(screen.shown() == ["Ramen waits for a network that the policy permits"])

            service.state.withLock { $0.delay = .seconds(1) }
            simulated.network = .unknown
            try await expect(["Ramen, saved on this device", "Saved on this device"])
            for await status in sync.statuses where status.isSyncing { break }
            try await expect(["Ramen, saved on this device", "Sending…"])
            try await world.sleep(for: .seconds(5))
            try await expect(["Ramen"])
            service.state.withLock { $0.delay = .zero }

            func change(_ name: String, _ troubles: RestService.Trouble...) async throws {
                service.state.withLock { $0.troubles = troubles }
                try await collections.update(made.id) { $0.name = name }
                try await world.sleep(for: .milliseconds(500))
            }
            let sentLater = "Saved on this device. Sent when the service answers again"
            try await change("Udon", .status(503))
            try await expect(["Udon, saved on this device", sentLater])
            try await collections.sync()
            let signIn = "Sign in to send 1 changes"
            try await change("Soba", .status(401))
            try await expect(["Soba, saved on this device", signIn])
            try await collections.sync()
            let refused = "The service refused 1 changes"
            try await change("Rude", .status(422))
            try await expect(["Rude, refused by the service", refused])
            try await collections.rejected().first?.discard()
            try service.set("a", #"{"id":"a","name":"Theirs"}"#)
            let conflict = ["Mine, choose a version", "Somebody else has changed the same"]
            try await change("Mine")
            try await expect(conflict)
            try await collections.resolve("a", with: .mine)
            try await world.sleep(for: .seconds(1))
            try await expect(["Mine"])

            simulated.network = .offline
            try await collections.delete("a")
            try await app.change("collections", Self.policy.replacing(#", "push": "rest""#, with: ""), of: pantry)
            try await expect(["Saved on this device only"])
            try await RecordScreensArticle.signOut("alice", of: pantry, screen)
            #expect(screen.shown() == ["1 changes are sent when you sign in again. Sign out?"])
            try await expect(["Not everything was loaded yet", "Saved on this device only"])
            await pantry.close()
        }
    }
}
