import LarderFoundation
import Larder
import Testing

@testable import LarderCommand
@testable import LarderStories

/// Promises about changes of records, which hold in all histories or are refuted by one.
@Suite struct RecordProofTests {
    @Test func collectionsKeepTheirPromises() async throws {
        try await expectProved("collections", within: "2m", histories: 1350)
    }

    /// Its changes are sent every five minutes. In 300 more histories, another device changes a record after that.
    @Test func watchStatusKeepsItsPromises() async throws {
        try await expectProved("watch-status", within: "20m", histories: 1650)
    }

    private func expectProved(_ resource: String, within limit: String, histories: Int) async throws {
        let output = try await RecordProofPolicy(resource).prove()
        #expect(output.code == 0, "\(output.err)")
        #expect(
            output.out == """
                \(resource): \(histories) histories of changes
                  ✓ losesNothing: proved for \(histories) histories
                  ✓ appliesOnce: proved for \(histories) histories
                  ✓ noLostUpdate: proved for \(histories) histories
                  ✓ sentWithin \(limit): proved for \(histories) histories

                """, "\(output.out)")
    }

    /// A promise that a changed policy breaks, with the way in which `larder prove` tells it.
    struct Broken: Sendable, CustomTestStringConvertible {
        let resource: String
        let changes: KeyValuePairs<String, String>
        let told: String
        /// The changes of the shipped policy by which the promise holds again.
        var mended: KeyValuePairs<String, String> = [:]

        var testDescription: String { told }
    }

    static let all = [
        Broken(
            resource: "collections", changes: [#""use": "rest","#: #""use": "rest", "key": "","#],
            told: """
                  ✗ appliesOnce: refuted: the next answer is lost, the user makes a record: the service has made one \
                change twice
                      send a key with each change, which the service knows, or let clients name records ("ids": "client")
                """),
        Broken(
            resource: "collections", changes: [#""version": "/revision","#: ""],
            told: """
                  ✗ noLostUpdate: refuted: another device changes the same field, the user changes a record: a change of \
                another device is replaced by one that had not seen it
                      send the version of the record with each change ("version"), which the service compares
                """),
        Broken(
            resource: "collections", changes: [#""deleted": "/deletedIds", "#: ""],
            told: """
                  ✗ noLostUpdate: refuted: another device deletes it, the user makes a record: a record is shown that the service has no more
                      let pages tell deletions ("deleted" or "tombstone"), or fetch everything now and then ("full": "7d")
                """,
            mended: [#""deleted": "/deletedIds", "#: #""full": "7d", "#]),
        // Records are fetched before each run, so only a try that was lost overwrites what came meanwhile.
        Broken(
            resource: "watch-status", changes: [#""version": "/revision", "#: "", #", "ifRevision": "{version}""#: ""],
            told: """
                  ✗ noLostUpdate: refuted: the next call does not arrive, the user changes a record, 6 minutes pass, another \
                device changes the same field: a change of another device is replaced by one that had not seen it
                      send the version of the record with each change ("version"), which the service compares
                """),
        // A run that fetches sends, too, so the first try comes with the first fetch.
        Broken(
            resource: "watch-status",
            changes: [
                #""version": "/revision", "#: "", #", "ifRevision": "{version}""#: "",
                #""expired": [410], "every": "5m""#: #""expired": [410], "every": "1m""#,
            ],
            told: """
                  ✗ noLostUpdate: refuted: the next call does not arrive, the user changes a record, 2 minutes pass, another \
                device changes the same field: a change of another device is replaced by one that had not seen it
                      send the version of the record with each change ("version"), which the service compares
                """),
        Broken(
            resource: "watch-status", changes: [#""sentWithin": "20m""#: #""sentWithin": "2m""#],
            told: """
                  ✗ sentWithin 2m: refuted: the user makes a record: the last change reaches the service after 5m
                      it would hold with "15m"
                """),
    ]

    /// The histories fail with the policy, and pass with one that keeps the promise.
    @Test(arguments: all) func brokenPromiseIsToldWithItsHistoryAndRemedy(_ broken: Broken) async throws {
        let policy = try RecordProofPolicy(broken.resource, broken.changes)
        let out = policy.folder.path + "/Refuted"
        let output = await policy.prove("--out", out)
        #expect(output.code == 1, "\(output.err)")
        #expect(output.out.contains("\n" + broken.told), "\(output.out)")
        #expect(output.out.split(separator: "\n").count { $0.hasPrefix("  ✗") } == 1, "\(output.out)")
        let failed = await policy.test(out)
        #expect(failed.code == 1)
        #expect(failed.out.hasSuffix("1 scenario in 1 file: 0 passed, 1 failed\n"), "\(failed.out)\(failed.err)")
        // No other policy is needed for a limit that is too short.
        if broken.told.contains("✗ sentWithin") { return }
        let passed = try await RecordProofPolicy(broken.resource, broken.mended).test(out)
        #expect(passed.code == 0, "\(passed.out)\(passed.err)")
    }
}
