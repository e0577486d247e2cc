import Foundation
import Larder
import LarderSimulation
import LarderSync
import Testing

/// Records of a service that is no HTTP service, by two functions.
@Suite struct ZoneTests {
    private struct ZonePuller: Puller {
        let zone: Zone
        func page(_ question: PullQuestion) async throws -> PullPage { try await zone.page(question) }
    }

    private struct ZonePusher: Pusher {
        let zone: Zone
        let most = 400
        func push(_ changes: [PushedChange], by call: PushCall) async throws -> [WriteOutcome] {
            try await zone.push(changes, call)
        }
    }

    @Sendable private static func longer(_ base: JSONText?, _ mine: JSONText, _ theirs: JSONText) -> JSONText {
        if mine.bytes.count != theirs.bytes.count { return mine.bytes.count > theirs.bytes.count ? mine : theirs }
        return mine.bytes.lexicographicallyPrecedes(theirs.bytes) ? theirs : mine
    }

    @Test func ruleKeepsItsPromises() {
        #expect(ConflictConformance(Self.longer).brokenPromises() == [])
    }

    @Test func functionsKeepTheirPromises() async {
        let (first, second) = (Zone(), Zone())
        let pulls = await PullerConformance(ZonePuller(zone: first), in: first).brokenPromises()
        #expect(pulls.isEmpty, "\(pulls)")
        let pushes = await PusherConformance(
            ZonePusher(zone: second), in: second, version: JSONPointer(steps: ["tag"])
        ).brokenPromises()
        #expect(pushes.isEmpty, "\(pushes)")
    }

    @Test func articleShowsThisCode() throws {
        let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        func words(_ path: String) throws -> String {
            try String(contentsOf: root.appending(path: path), encoding: .utf8)
                .split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        let code = try ["Zone", "ZoneTests", "GraphQLTests"].map {
            try words("Tests/ThirdPartyTests/Records/\($0).swift")
        }.joined()
        let page = try words("Sources/LarderSync/LarderSync.docc/YourOwnService.md")
        let blocks = page.components(separatedBy: "```swift ").dropFirst().compactMap {
            $0.components(separatedBy: " ```").first
        }
        #expect(blocks.count == 7)
        for block in blocks { #expect(code.contains(block), "\(block)") }
    }

    @Test func twoDevicesAgree() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let (zone, folder) = (Zone(), try TemporaryFolder())
            let plugins = [
                Plugin.puller("zone", "Asks the zone.") { try await zone.page($0) },
                .pusher("zone", "Saves in the zone.", most: 2) { try await zone.push($0, $1) },
                .conflict("longer", "The longer text stays.", Self.longer),
            ]
            func device(_ name: String) async throws -> Pantry {
                try await Pantry(
                    policies: [
                        "notes": """
                        { "resource": "notes",
                          "records": { "id": "/id", "version": "/tag", "pull": { "use": "zone", "limit": 2 }, "push": "zone",
                            "conflict": "longer" } }
                        """
                    ],
                    registry: try .standard.adding(.sync).adding(plugins), cache: folder.url.appending(path: name),
                    data: folder.url.appending(path: name + "-data"), world: world)
            }
            let (phone, tablet) = (try await device("phone"), try await device("tablet"))
            let (notes, others) = (phone.records("notes"), tablet.records("notes"))
            for number in 1...5 { try await notes.create(try Self.note(number, "text")) }
            try await notes.sync()
            try await others.sync()
            let count = try await others.count()
            #expect(count == 5)
            // Both change the same note.
            try await notes.put(try Self.note(1, "short"))
            try await others.put(try Self.note(1, "the longer one"))
            try await notes.delete("n2")
            try await notes.sync()
            try await others.sync()
            try await notes.sync()
            for records in [notes, others] {
                let text = try await records.get("n1").record?.value["text"]?.string
                #expect(text == "the longer one")
                let left = try await records.query().records.map(\.id).sorted()
                #expect(left == ["n1", "n3", "n4", "n5"])
            }
            // A token that the service has forgotten costs a full pull, and no change.
            _ = await zone.forgetPositions()
            try await notes.put(try Self.note(3, "kept"))
            try await others.sync()
            try await notes.sync()
            try await others.sync()
            let text = try await others.get("n3").record?.value["text"]?.string
            #expect(text == "kept")
            await phone.close()
            await tablet.close()
        }
    }

    private static func note(_ number: Int, _ text: String) throws -> JSONText {
        try JSONText(#"{"id":"n\#(number)","text":"\#(text)"}"#.utf8)
    }
}
