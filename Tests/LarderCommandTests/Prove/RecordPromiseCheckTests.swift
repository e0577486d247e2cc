import LarderFoundation
import Larder
import LarderSync
import Testing

@testable import LarderCommand
@testable import LarderStories

/// Promises about changes of records that nothing can prove, and histories that nothing can play.
@Suite struct RecordPromiseCheckTests {
    @Test func promisesOfBothKindsAreAnError() async throws {
        let policy = try RecordProofPolicy(
            "collections", [#""sentWithin": "2m""#: #""sentWithin": "2m", "waits": "1s""#])
        let output = await policy.check("--no-prove")
        #expect(output.code == 1)
        #expect(
            output.out.contains(
                "promises about loads and about changes of records cannot be proved together; expected promises of one kind "
                    + "[at $.promises.waits]"), "\(output.out)")
    }

    @Test(arguments: [
        #""losesNothing": true"#, #""appliesOnce": true"#, #""noLostUpdate": true"#, #""sentWithin": "2m""#,
    ])
    func promiseAboutRecordsNeedsRecords(_ promise: String) async throws {
        let folder = try ProveCommandTests.folder("{ \(promise) }")
        let output = await Output(["check", folder.path, "--no-prove"], registry: .shipped)
        let name = promise.split(separator: "\"")[0]
        #expect(output.code == 1)
        #expect(
            output.out.contains(
                "error: '\(name)' has no effect without the section 'records'; expected the section 'records', or no "
                    + "'\(name)' [at $.promises.\(name)]"), "\(output.out)")
    }

    @Test func unknownLanguageOfAPullerIsAGap() throws {
        let policy = try RecordProofPolicy()
        var text = try policy.folder.text(of: "collections.json")
        let start = try #require(text.firstRange(of: #""pull": {"#))
        let end = try #require(text.firstRange(of: #""every": "1h""#))
        text.replaceSubrange(start.lowerBound..<end.upperBound, with: #""pull": { "use": "own""#)
        try policy.folder.write(text, to: "collections.json")
        let registry = try Registry.shipped.adding([.puller("own", "Tells nothing.") { _ in PullPage([]) }])
        let proof = try RecordProof(of: "collections", in: policy.folder.url, registry: registry)
        #expect(proof.histories == 0)
        #expect(proof.gaps == ["its puller does not tell the language of its service, so nothing is played"])
        #expect(!proof.report.joined().contains("proved"))
        #expect(proof.report.count { $0.hasSuffix(": not played") } == 4, "\(proof.report)")
        #expect(proof.report.last == "  not complete: " + proof.gaps[0])
    }

    static let bad: [(history: String, message: String)] = [
        (
            #"{ "name": "it", "steps": ["updat"], "expect": { "losesNothing": true } }"#,
            """
            :1:70: error: this is not one of the choices; expected one of "create", "update", "update-new", "delete", \
            "other-updates", "other-updates-elsewhere", "other-deletes", "other-creates", "offline", "online", \
            "call-is-lost", "answer-is-lost", "fails", "busy", "login-page", "ends-before-call", "ends-before-answer", \
            "restart", "minute" (did you mean 'update'?) [at $.histories[0].steps[0]]
            """
        ),
        (
            #"{ "name": "it", "steps": [], "expect": { "losesNothing": true } }"#,
            ":1:69: error: the list is too short; expected at least 1 item [at $.histories[0].steps]"
        ),
        (
            #"{ "name": "it", "steps": ["update"], "expect": {} }"#,
            ":1:91: error: nothing is expected; expected at least one promise [at $.histories[0]]"
        ),
        (
            #"{ "name": "it", "steps": ["update"], "expect": { "losesNothing": false } }"#,
            ":1:91: error: nothing is expected; expected at least one promise [at $.histories[0]]"
        ),
        (
            #"{ "name": "it", "steps": ["update"], "expect": { "waits": "1s" } }"#,
            """
            :1:93: error: unknown key 'waits' of an expectation; expected one of 'losesNothing', 'appliesOnce', \
            'noLostUpdate', 'sentWithin' [at $.histories[0].expect]
            """
        ),
    ]

    @Test(arguments: bad) func badHistoryIsExplained(_ bad: (history: String, message: String)) async throws {
        let policy = try RecordProofPolicy()
        let path = policy.folder.url.appending(path: "Histories")
        try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
        try policy.folder.write(
            #"{ "resource": "collections", "histories": [\#(bad.history)] }"#, to: "Histories/it.json")
        let output = await policy.test(path.path)
        #expect(output.code == 1)
        #expect((output.out + output.err).contains(bad.message), "\(output.out)\(output.err)")
    }
}
