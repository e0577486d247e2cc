import LarderFoundation
import Larder
import Testing

@testable import LarderCommand
@testable import LarderStories

/// The drawings of all events, under policies made for them.
@Suite struct TimelineTests {
    private static func stories(
        strategy: String = "network-first", around: String = "[]",
        validators: String = #"[{ "use": "age", "fresh": "1m" }]"#,
        store: String = "memory", fallbacks: String = "[]"
    ) throws -> Stories {
        let stories = try Stories()
        try stories.folder.write(
            """
            { "resource": "feed", "origin": { "use": "sample", "payload": "feed" }, "around": \(around),
              "strategy": "\(strategy)", "validators": \(validators), "store": \(store.hasPrefix("{") ? store : "\"\(store)\""),
              "fallbacks": \(fallbacks) }
            """, to: "feed.json")
        return stories
    }

    @Test func hangingCallIsDrawnAsNeverAnswered() async throws {
        let lines = try await Self.stories().drawn(
            #""origin": { "hangs": true }, "asks": [{ "expect": { "value": 1 } }, { "at": "1s", "mode": "cachedOnly" }]"#
        )
        #expect(
            lines == [
                "feed  0s ask ──origin──… no answer   expected: an answer, not none",
                "feed  1s ask cachedOnly ──✗ error notCached",
            ])
    }

    @Test func breakerAndFallbackAreDrawn() async throws {
        let stories = try Self.stories(
            around: #"[{ "use": "breaker", "failures": 2, "rest": "10s" }]"#,
            fallbacks: #"[{ "use": "constant", "value": "seed" }]"#)
        let lines = try await stories.drawn(
            """
            "origin": { "takes": "10ms", "fails": 500 },
            "asks": [{}, { "at": "1s" }, { "at": "2s", "expect": { "source": "fallback", "age": "unknown", "calls": 2 } },
                     { "at": "3s", "expect": { "source": "fallback constant", "value": "seed", "freshness": "stale" } }]
            """, passes: true)
        #expect(
            lines == [
                "feed  0s ask ──origin──✗ 10ms 500 ──▶ fallback constant, of unknown age, stale",
                "feed  1s ask ──origin──✗ 10ms 500 ──▶ fallback constant, of unknown age, stale",
                "feed  2s ask ──[breaker open after 2 failures in a row, next try in 9 s] "
                    + "──▶ fallback constant, of unknown age, stale",
                "feed  3s ask ──[breaker open after 2 failures in a row, next try in 8 s] "
                    + "──▶ fallback constant, of unknown age, stale",
            ])
    }

    @Test func deadlineAndJoiningLoadsAreDrawn() async throws {
        let lines = try await Self.stories().drawn(
            """
            "cached": { "value": 1, "age": "30s" }, "origin": { "takes": "3s", "value": 2 },
            "asks": [{ "deadline": "1s", "expect": { "value": 1, "takes": "1s" } },
                     { "at": "2s", "expect": { "value": 2, "takes": "1s", "calls": 1 } },
                     { "at": "4s", "parameters": { "id": "1" }, "deadline": "1s", "expect": { "error": "deadline" } }]
            """, passes: true)
        #expect(
            lines == [
                "feed  0s ask ──origin──✗ 1s deadline ──▶ cached in memory, 31s old, fresh",
                "feed  2s ask ──origin since 0s──▶ 1s fresh",
                "feed  4s ask id=1 ──origin──✗ 1s deadline ──✗ error deadline",
            ])
    }

    @Test func unsavedAndRefusedAnswersAreDrawn() async throws {
        let small = try Self.stories(store: #"{ "use": "memory", "capacity": "450B" }"#)
        #expect(
            try await small.drawn(
                """
                "cached": { "value": "a text that is longer than so little space allows" },
                "asks": { "mode": "cachedOnly", "expect": { "error": "notCached" } }
                """, passes: true) == [
                    "feed  [cached: not kept by the store]", "feed  0s ask cachedOnly ──✗ error notCached",
                ])
        let strict = try Self.stories(validators: #"[{ "use": "content-type", "allowed": ["application/json"] }]"#)
        #expect(
            try await strict.drawn(
                """
                "cached": { "value": 1, "contentType": "text/html" }, "origin": { "value": 1, "contentType": "image/png" },
                "asks": { "expect": { "error": "refused" } }
                """, passes: true) == [
                    "feed  [cached: refused: its content type is not among those allowed]",
                    "feed  0s ask ──origin──▶ 0s ──[payload refused: its content type is not among those allowed] "
                        + "──✗ error refused",
                ])
    }

    @Test func controlCharactersInNamesAreEscaped() async throws {
        let lines = try await Self.stories().drawn(
            #""asks": { "scope": "a\u001b[2J\nb", "expect": { "error": "failed" } }"#, passes: true)
        #expect(lines == [#"feed  0s ask as a\u{1b}[2J\u{a}b ──origin──✗ 0s offline ──✗ error failed"#])
    }

    @Test func timesAreWrittenShort() {
        let times: [(Duration, String)] = [
            (.zero, "0s"), (.nanoseconds(5), "0s"), (.milliseconds(800), "800ms"), (.milliseconds(1_500), "1.5s"),
            (.milliseconds(10_300), "10.3s"), (.seconds(60), "1m"), (.seconds(3_661), "1h1m"),
            (.milliseconds(10_800_800), "3h"), (.seconds(6 * 86_400 + 86_399), "6d23h"), (.seconds(-90), "-1m30s"),
        ]
        for (time, text) in times { #expect(time.short == text) }
    }
}
