import Foundation
import LarderSimulation
import LarderStories
import LarderSystem
import Testing

@Suite struct PlayedPantryTests {
    private static let sections = [
        "", #""refresh": { "every": "1m" },"#, #""prefetch": { "requests": [{}], "when": "start" },"#,
    ]

    @Test(arguments: ["race", "cache-first", "network-first"], sections)
    func playedPantryLeavesNoOpenFiles(_ strategy: String, _ section: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            { "resource": "prices", "origin": { "use": "sample", "payload": "catalog" },
              "strategy": { "use": "\(strategy)", "offline": "try" }, \(section)
              "around": [{ "use": "timeout", "after": "2800ms" }],
              "validators": [{ "use": "age", "fresh": "22ms", "whileRevalidating": "0ms", "onError": "0ms" }],
              "store": { "use": "sqlite", "file": "place0", "limit": "4ms" } }
            """, to: "prices.json")
        let player = try StoryPlayer(of: "prices", in: folder.url)
        func open() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        _ = try player.play(Story())
        let before = try open()
        for _ in 0..<20 { _ = try player.play(Story()) }
        #expect(try open() <= before)
    }
}
