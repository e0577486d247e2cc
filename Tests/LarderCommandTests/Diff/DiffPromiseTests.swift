import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand
@testable import LarderStories

/// The promises that a change of a policy breaks or keeps again.
@Suite struct DiffPromiseTests {
    private static func policy(_ promises: String, onError: String = "6h") -> String {
        ProveCommandTests.small.replacing("PROMISES", with: promises).replacing("\"6h\"", with: "\"\(onError)\"")
    }

    private static func lines(_ old: String, _ new: String, _ options: String...) async throws -> [String] {
        let folder = try Folder()
        try folder.write(old, to: "old.json")
        try folder.write(new, to: "new.json")
        let output = await Output(["diff", folder.path + "/old.json", folder.path + "/new.json"] + options)
        return output.out.split(separator: "\n").filter { $0.contains("romise ") }.map(String.init)
    }

    private static let kept = policy(#"{ "neverOlderThan": "365m" }"#)
    private static let broken =
        "broken (the origin fails while the copy is 7h 4m 59s old: the copy is shown after 500ms, "
        + "7h 4m 59.5s old)"

    @Test func promiseThatAChangeBreaksIsToldWithItsSituation() async throws {
        let changed = Self.policy(#"{ "neverOlderThan": "365m" }"#, onError: "7h")
        #expect(
            try await Self.lines(Self.kept, changed) == ["  promise neverOlderThan 6h 5m: kept → \(Self.broken)"])
        #expect(try await Self.lines(Self.kept, changed, "--no-prove").isEmpty)
        let back = try await Self.lines(changed, Self.kept)
        #expect(back == ["  promise neverOlderThan 6h 5m: \(Self.broken) → kept"])
    }

    @Test func promiseThatIsLoosenedOrRemovedWithItsChangeIsToldToo() async throws {
        let loosened = Self.policy(#"{ "neverOlderThan": "425m" }"#, onError: "7h")
        #expect(
            try await Self.lines(Self.kept, loosened).last
                == "  promise neverOlderThan 6h 5m: kept → \(Self.broken); the new limit 7h 5m is kept")
        let other = Self.policy(#"{ "callsPerLoad": 2 }"#, onError: "7h")
        #expect(
            try await Self.lines(Self.kept, other).last
                == "  promise neverOlderThan 6h 5m: kept → \(Self.broken); the promise is removed")
    }

    @Test func newPromiseIsToldOnlyIfItIsBroken() async throws {
        let both = Self.policy(#"{ "neverOlderThan": "365m", "callsPerLoad": 1 }"#)
        #expect(
            try await Self.lines(Self.kept, both).last
                == "  new promise callsPerLoad 1: broken (the origin fails while there is no copy: the load causes 2 calls)"
        )
        let sound = Self.policy(#"{ "neverOlderThan": "365m", "callsPerLoad": 2 }"#)
        #expect(try await !Self.lines(Self.kept, sound).contains { $0.contains("new promise") })
    }
}
