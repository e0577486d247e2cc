import Larder
import Testing

@testable import LarderSimulation
@testable import LarderStories

/// The promise `waits` is about loads that have a copy which may be shown.
@Suite struct CopiesThatMayBeShownTests {
    private static let policy = """
        { "resource": "prices", "origin": { "use": "sample", "payload": "catalog" }, "strategy": "cache-first",
          "validators": [{ "use": "age", "fresh": "1m", "onError": "1h" }],
          "store": { "use": "file", "limit": "2s" } }
        """

    /// A load whose origin says, after a second, that the resource is gone.
    private static let gone = Story().with { situation in
        (situation.copy, situation.origin) = (.init(age: .seconds(120)), [.init(.status(404), after: .seconds(1))])
        situation.stores = [.init(.reads, .takes(.seconds(1)))]
    }

    private func isShown(_ situation: Story, after times: Duration...) throws -> [Bool?] {
        let folder = try ProveCommandTests.folder("", policy: Self.policy)
        var copies = CopiesThatMayBeShown(of: try SimulatedPolicy(of: "prices", in: folder.url))
        try copies.ask(times.map { (situation, $0) })
        return times.map { copies.isShown(situation, after: $0) }
    }

    @Test func copyStaysIfOnlyTheLoadItselfWouldLearnThatItIsGone() throws {
        let folder = try ProveCommandTests.folder("", policy: Self.policy)
        let seen = try StoryPlayer(of: "prices", in: folder.url).play(Self.gone)
        #expect(seen.ending == .error(code: "answer", status: 404) && seen.waited == .seconds(2))
        #expect(try isShown(Self.gone, after: .zero, .seconds(3)) == [true, true])
    }

    @Test func copyGoesWhenAnEarlierLoadLearnsThatItIsGone() throws {
        // It still reads the store when the load begins, and then calls the origin.
        let earlier = Self.gone.with { $0.earlier = [.init(before: .milliseconds(500))] }
        #expect(try isShown(earlier, after: .zero, .seconds(3)) == [true, false])
        let other = Self.gone.with { $0.earlier = [.init(before: .milliseconds(500), isOther: true)] }
        #expect(try isShown(other, after: .zero, .seconds(3)) == [true, true])
    }

    @Test func copyGrowsOlderMeanwhile() throws {
        // The windows end after an hour and a minute.
        let old = Self.gone.with { $0.copy?.age = .seconds(3_658) }
        #expect(try isShown(old, after: .zero, .seconds(3)) == [true, false])
        let younger = old.with { $0.load.clockBack = .seconds(10) }
        #expect(try isShown(younger, after: .zero, .seconds(3)) == [true, true])
    }
}
