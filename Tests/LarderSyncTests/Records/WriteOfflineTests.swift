import Foundation
import Larder
import LarderSimulation
import LarderSync
import LarderSystem
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The example "Write offline" of README.
private enum WriteOffline {
    struct Note: Codable, Sendable {
        var id: String?
        var title: String
    }

    final class List: Sendable {
        private let pages = AsyncStream<[String]>.makeStream()

        func show(_ lines: [String]) { pages.continuation.yield(lines) }

        /// Waits until these lines are shown.
        func wait(for lines: [String]) async {
            for await page in pages.stream where page == lines { return }
        }
    }

    static func open(_ folder: URL, for app: URL) async throws -> Pantry {
        try await Pantry(
            policies: folder, registry: .standard.adding(.sync), cache: app.appending(path: "cache"),
            data: app.appending(path: "data"))
    }

    /// Makes a note, and shows the notes until this is cancelled.
    static func run(_ pantry: Pantry, _ list: List) async throws {
        let notes = pantry.records("notes", of: Note.self)
        let note = try await notes.create(Note(title: "Ramen"))
        try await notes.update(note.id) { $0.title = "Ramen & Udon" }
        for await page in notes.observe() {
            list.show(page.records.map { $0.value.title + ($0.state == .synced ? "" : " (waits)") })
        }
    }
}

@Suite struct WriteOfflineTests {
    private static let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    /// The blocks of code of a language in README's part about writing offline.
    private static func blocks(_ language: String) throws -> [String] {
        let page = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let part = try #require(
            page.components(separatedBy: "## Write offline").last?.components(separatedBy: "\n## ").first)
        return part.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
    }

    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing("( ", with: "(")
    }

    @Test func readmeShowsTheCompiledCode() throws {
        let code = Self.words(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
        // The import and the app's own folders stand elsewhere in a test.
        let lines = try #require(try Self.blocks("swift").first).split(separator: "\n").dropFirst(2)
        #expect(lines.count == 6)
        #expect(code.contains(Self.words(lines.joined(separator: "\n"))))
    }

    #if os(macOS) || os(Linux)
        @Test func notesArriveAlthoughTheServiceWasDead() async throws {
            guard Service.isPossible else {
                print("skipped: python3 is missing")
                return
            }
            let folder = try TemporaryFolder()
            // The service has run before, and is dead now.
            var service = try Service()
            let port = service.port
            await service.kill()
            let policies = folder.url.appending(path: "policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            let members = try #require(try Self.blocks("json").first).replacing(
                "https://api.example.com", with: "http://127.0.0.1:\(port)")
            // Shorter waits, so that the test is quick.
            let policy = #"{ "resource": "notes", \#(members), "outbox": { "backoff": "20ms", "limit": "1s" } }"#
            try Data(policy.utf8).write(to: policies.appending(path: "notes.json"))
            let pantry = try await WriteOffline.open(policies, for: folder.url)
            let list = WriteOffline.List()
            let app = Task { try await WriteOffline.run(pantry, list) }
            await list.wait(for: ["Ramen & Udon (waits)"])

            service = try Service(port: port)
            await list.wait(for: ["Ramen & Udon"])
            let address = try #require(URL(string: "http://127.0.0.1:\(port)/notes"))
            let answer = try JSONText(try Data(contentsOf: address))
            #expect(answer["notes"]?.items.map { $0["title"]?.string } == ["Ramen & Udon"])
            app.cancel()
            await pantry.close()
            await service.kill()
        }
    #endif
}

#if os(macOS) || os(Linux)
    /// The service of notes as a process.
    private final class Service {
        static let isPossible = {
            guard let version = try? start("--version") else { return false }
            return (try? version.output.readToEnd())?.isEmpty == false
        }()

        private let process: Process
        private let ended: AsyncStream<Void>
        let port: Int

        init(port: Int = 0) throws {
            let script = (1...3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
                .appending(path: "sync_service.py").path
            let started = try Self.start(script, "\(port)")
            (process, ended) = (started.process, started.ended)
            let line = String(decoding: started.output.availableData, as: UTF8.self)
            self.port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)))
        }

        deinit { end(process) }

        /// Starts Python.
        private static func start(
            _ arguments: String...
        ) throws -> (process: Process, output: FileHandle, ended: AsyncStream<Void>) {
            let (process, output) = (Process(), Pipe())
            let (ended, continuation) = AsyncStream<Void>.makeStream()
            process.terminationHandler = { _ in continuation.finish() }
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["python3"] + arguments
            process.standardOutput = output
            try process.run()
            return (process, output.fileHandleForReading, ended)
        }

        /// Kills the process, and waits for its end. Its port is free then.
        func kill() async {
            end(process)
            for await _ in ended {}
        }
    }

    /// Kills a process. It has inherited that other signals are blocked, so it does not hear them.
    private func end(_ process: Process) {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
#endif
