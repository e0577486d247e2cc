import Larder
import LarderFoundation
import Testing

@testable import LarderCommand

/// Histories of records against policies that speak in various ways, and against policies that keep or send nothing.
@Suite struct PlayedHistoryTests {
    /// Plays histories against a policy that differs from a shipped one.
    private func play(
        _ policy: RecordProofPolicy, steps: [[String]] = PlayedHistoryTests.usual,
        expecting promises: String = #""losesNothing": true, "appliesOnce": true, "noLostUpdate": true"#
    ) async throws -> Output {
        let histories = steps.map { steps in
            let list = steps.map { "\"\($0)\"" }.joined(separator: ", ")
            return #"{ "name": "it", "steps": [\#(list)], "expect": { \#(promises) } }"#
        }
        let folder = try Folder()
        try folder.write(
            #"{ "resource": "\#(policy.resource)", "histories": [\#(histories.joined(separator: ", "))] }"#,
            to: "it.json")
        return await policy.test(folder.path + "/it.json")
    }

    private static let usual = [
        ["create"], ["update"], ["delete"], ["offline", "create", "update-new", "online"],
        ["answer-is-lost", "create"], ["offline", "update", "other-updates", "online"],
        ["update", "other-updates", "update"],
    ]

    @Test(arguments: [
        (
            "a quoted version", #""push": { "use": "rest", "update": { "method": "PATCH", "body": "{changes}" } }"#,
            #""push": { "use": "rest", "update": { "fields": { "If-Match": "\"{version}\"" } } }"#
        ),
        (
            "a key in the body", #""push": { "use": "rest", "update": { "method": "PATCH", "body": "{changes}" } }"#,
            #""push": { "use": "rest", "key": "", "create": { "body": { "key": "k-{key}", "note": "{record}" } } }"#
        ),
    ])
    func callsAreReadAsTheyAreWritten(_ name: String, old: String, new: String) async throws {
        let output = try await play(RecordProofPolicy("collections", [old: new]))
        #expect(output.code == 0, "\(name): \(output.out)")
    }

    @Test func createsThatAreSentAsChangesAreTakenForBoth() async throws {
        let policy = try RecordProofPolicy(
            "collections",
            [
                #""ids": "server""#: #""ids": "client""#,
                #""update": { "method": "PATCH", "body": "{changes}" }"#:
                    ##""create": { "method": "PUT", "parameters": { "id": "{id}" } }, "update": { "method": "PUT", "body": "{record}" }"##,
            ])
        let output = try await play(policy)
        #expect(output.code == 0, "\(output.out)")
    }

    @Test func callThatCannotBeReadIsNoProof() async throws {
        let policy = try RecordProofPolicy(
            "watch-status", [#""body": { "operations": "{operations}" }"#: #""body": { "text": "all {operations}" }"#])
        let output = try await play(policy, steps: [["update"]], expecting: #""losesNothing": true"#)
        #expect(output.code == 1)
        #expect(output.out.contains("the simulated service cannot read a call of the policy"), "\(output.out)")
    }

    @Test func callWithoutTheValuesIsNoProof() async throws {
        let policy = try RecordProofPolicy(
            "collections",
            [#""update": { "method": "PATCH", "body": "{changes}" }"#: #""update": { "body": { "added": "{added}" } }"#]
        )
        let output = try await play(policy, steps: [["update"]], expecting: #""losesNothing": true"#)
        #expect(output.code == 1)
        #expect(output.out.contains("the simulated service cannot read a call of the policy"), "\(output.out)")
    }

    @Test func deviceThatKeepsNoChangeBreaksThePromise() async throws {
        let policy = try RecordProofPolicy(
            "watch-status", [#""outbox": { "retries": 3"#: #""outbox": { "capacity": "1B", "retries": 3"#])
        for promise in [#""losesNothing": true"#, #""sentWithin": "1d""#] {
            let output = try await play(policy, steps: [["update"]], expecting: promise)
            #expect(output.code == 1)
            #expect(output.out.contains("the device keeps no change"), "\(output.out)")
        }
    }

    @Test func waitWithoutNetworkDoesNotCount() async throws {
        let output = try await play(
            RecordProofPolicy(), steps: [["offline", "create", "minute", "minute", "minute"]],
            expecting: #""sentWithin": "2m""#)
        #expect(output.code == 0, "\(output.out)")
    }

    @Test(arguments: [["update-new"], ["create", "minute", "answer-is-lost"], ["other-deletes", "ends-before-call"]])
    func stepWithoutEffectFails(_ steps: [String]) async throws {
        let output = try await play(RecordProofPolicy(), steps: [steps], expecting: #""losesNothing": true"#)
        #expect(output.code == 1)
        #expect(output.out.contains("'\(steps.last ?? "")' has no effect here"), "\(output.out)")
    }
}
