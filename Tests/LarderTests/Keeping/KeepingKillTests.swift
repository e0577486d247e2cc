import LarderFoundation
import Foundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// A process that is killed while it keeps instances over HTTP.
@Suite(.timeLimit(.minutes(60))) struct KeepingKillTests {
    private static let small = 1_000
    private static let largeSize = 100_000_000

    /// The folder that the process with this number and the one that it starts use.
    private static func folder(of process: Int32) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "larder-keeping-\(process)")
    }

    private static func policy(_ url: String) -> String {
        #"""
        { "resource": "items",
          "origin": { "use": "http", "url": "\#(url)/{id}", "capacity": "200MB", "limit": "10m" },
          "strategy": "cache-first", "validators": [{ "use": "age", "fresh": "1h" }, "checksum"],
          "store": { "use": "file", "capacity": "1GB" } }
        """#
    }

    private static var wanted: [Parameters] { [["id": "large"]] + (1...small).map { ["id": "\($0)"] } }

    /// A pantry in the folder. `hasList` says whether it knows what is kept, and so goes on with it.
    private static func pantry(in folder: URL, hasList: Bool = true) async throws -> Pantry {
        let url = try String(contentsOf: folder.appending(path: "url"), encoding: .utf8)
        return try await Pantry(
            policies: ["items": policy(url)], cache: folder.appending(path: "cache"),
            data: folder.appending(path: hasList ? "data" : "other"))
    }

    /// Keeps all instances until the process is killed. Only the first process says what is wanted.
    private static func keepUntilKilled(in folder: URL) async throws {
        try Data("\(getpid())".utf8).write(to: folder.appending(path: "process"))
        let pantry = try await pantry(in: folder)
        let items = pantry.resource("items")
        if try await items.kept().isEmpty { try await items.keep(wanted) }
        while true { try await Task.sleep(for: .seconds(3_600)) }
    }

    /// A server with many small instances and a large one. In each round it sends a part of the large one and some of
    /// the small ones, and then kills the process that asks.
    private final class Server: Sendable {
        struct Round {
            /// The number of requests for small instances after which the process is killed; nil for never.
            var limit: Int?
            /// The number of requests for small instances since the large one was asked for.
            var requests = 0
            var sentLarge = Gate()
            /// The instances that were there when the round began.
            var stored: Set<String> = []
            var asked: [String] = []
            var starts: [Int] = []
        }

        let round = Locked(Round())
        let folder: URL
        private let serving = Locked<ScriptedServer?>(nil)

        init(in folder: URL) throws {
            self.folder = folder
            let server = try ScriptedServer { [round] request in Self.reply(to: request, round, folder) }
            try Data(server.url.utf8).write(to: folder.appending(path: "url"))
            serving.withLock { $0 = server }
        }

        var sent: Int { serving.withLock { $0?.sent ?? 0 } }

        private static func reply(
            to request: ScriptedRequest, _ round: Locked<Round>, _ folder: URL
        ) -> ScriptedReply {
            let id = String(request.path.dropFirst())
            let start = request["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let (left, gate) = round.withLock { round -> (Int?, Gate) in
                round.asked.append(id)
                // Small ones that wait must leave a connection for the large one, so they count from then on.
                if id == "large" { round.starts.append(start) } else if !round.starts.isEmpty { round.requests += 1 }
                return (round.limit.map { $0 - round.requests }, round.sentLarge)
            }
            if id == "large" { return large(from: start, left == nil ? nil : gate) }
            let answer = ScriptedReply.answer(200, ["ETag": "\"\(id)\""], KeepingKillTests.text(of: id))
            guard let left, left <= 0 else { return answer }
            return left < 0
                ? .steps(.silence)
                : .steps(.wait(gate), .run { kill(processNumber(in: folder), SIGKILL) }, .silence)
        }

        private static func processNumber(in folder: URL) -> Int32 {
            let text = try? String(contentsOf: folder.appending(path: "process"), encoding: .utf8)
            // The number of this process would be fatal, and 0 too.
            return text.flatMap { Int32($0) } ?? .max
        }

        private static func large(from start: Int, _ gate: Gate?) -> ScriptedReply {
            var fields = [("ETag", "\"large\""), ("Content-Length", "\(largeSize - start)")]
            if start > 0 { fields.append(("Content-Range", "bytes \(start)-\(largeSize - 1)/\(largeSize)")) }
            var reply = ScriptedReply.steps(.send(ScriptedReply.head(start > 0 ? 206 : 200, fields)))
            let end = gate == nil ? largeSize : min(largeSize - 1_000_000, start + 8_000_000)
            reply.steps.append(.body(KeepingKillTests.bytes(start..<max(start, end))))
            if let gate { reply.steps += [.open(gate), .silence] }
            return reply
        }
    }

    /// A part of the large instance. Each megabyte begins with its number.
    private static func bytes(_ range: Range<Int>) -> Data {
        var bytes = Data(repeating: 7, count: range.count)
        for number in range.lowerBound / 1_000_000...range.upperBound / 1_000_000 {
            let place = number * 1_000_000 - range.lowerBound
            if bytes.indices.contains(place) { bytes[place] = UInt8(number) }
        }
        return bytes
    }

    private static func text(of id: String) -> String { "text of \(id)" }

    private static func stored(in folder: URL) async throws -> Set<String> {
        let pantry = try await pantry(in: folder, hasList: false)
        var stored: Set<String> = []
        var cursor: StoreCursor?
        repeat {
            let page = try await pantry.resource("items").list(after: cursor, most: 500)
            stored.formUnion(page.entries.compactMap { $0.key?.parameters["id"] })
            cursor = page.next
        } while cursor != nil
        await pantry.close()
        return stored
    }

    @Test func killedProcessesFetchNothingTwiceThatIsStored() async throws {
        let folder = Self.folder(of: getpid())
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try Server(in: folder)
        let rounds = ProcessInfo.processInfo.environment["LARDER_SLOW"] == nil ? 3 : 50
        let most = 2 * Self.small / 3 / rounds
        var generator = SeededGenerator(seed: 19)
        var starts: [Int] = []
        for number in 1...rounds {
            let limit = Int.random(in: 1...most, using: &generator)
            let stored = try await Self.stored(in: folder)
            server.round.withLock { $0 = Server.Round(limit: limit, stored: stored) }
            await #expect(processExitsWith: .signal(SIGKILL)) {
                // The process finds the folder by the number of the one that started it.
                try await Self.keepUntilKilled(in: Self.folder(of: getppid()))
            }
            let round = server.round.withLock { $0 }
            #expect(round.requests >= limit, "round \(number)")
            #expect(stored.intersection(round.asked) == [], "round \(number)")
            starts += round.starts
        }
        let stored = try await Self.stored(in: folder)
        server.round.withLock { $0 = Server.Round(stored: stored) }
        let pantry = try await Self.pantry(in: folder)
        let items = pantry.resource("items")
        let progress = await (try await items.keep(Self.wanted)).finished()
        #expect(progress.done == Self.small + 1)
        let round = server.round.withLock { $0 }
        #expect(stored.intersection(round.asked) == [])
        // Each of the others is asked for once.
        #expect(round.asked.count == Self.small + 1 - stored.count && Set(round.asked).count == round.asked.count)
        starts += round.starts
        // Each process goes on near the place where the one before was killed.
        #expect(starts.count == rounds + 1 && starts == starts.sorted() && starts.first == 0)
        #expect(starts.last ?? 0 > min(rounds * 2_000_000, 80_000_000), "\(starts)")

        #expect(try await items.load(["id": "large"], mode: .cachedOnly).value == Self.bytes(0..<Self.largeSize))
        for id in 1...Self.small {
            let value = try await items.load(["id": "\(id)"], mode: .cachedOnly).value
            #expect(String(decoding: value, as: UTF8.self) == Self.text(of: "\(id)"))
        }
        let kept = try await items.kept()
        #expect(kept.count == Self.small + 1 && kept.allSatisfy { $0.size != nil })
        await pantry.close()
    }
}
