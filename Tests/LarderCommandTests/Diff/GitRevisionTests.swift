import Foundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand

/// The command `git`.
private enum Git {
    static func run(_ arguments: [String], in folder: String) throws -> Int32 {
        #if os(macOS) || os(Linux)
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            let user = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
            process.arguments = ["git", "-C", folder] + user + arguments
            (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus
        #else
            throw CocoaError(.featureUnsupported)
        #endif
    }

    static let isThere = (try? run(["--version"], in: "/")) == 0
}

/// Policies from revisions of a real Git repository.
@Suite(.enabled(if: Git.isThere, "git is not installed")) struct GitRevisionTests {
    /// A repository whose last revision has two policies in `Policies`. The files in it were changed afterwards.
    private static func repository() throws -> Folder {
        let folder = try Folder()
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Policies"), withIntermediateDirectories: true)
        let base = #"{ "validators": [{ "use": "age", "fresh": "5m", "onError": "6h" }] }"#
        try folder.write(base, to: "Policies/_base.json")
        let policy = DiffCommandTests.small.replacing(
            #""validators": [{ "use": "age", "fresh": "5m", "onError": "6h" }]"#, with: #""extends": "_base.json""#)
        #expect(policy.contains("extends"))
        try folder.write(policy, to: "Policies/prices.json")
        try folder.write(policy.replacing("prices", with: "other"), to: "Policies/other.json")
        for arguments in [["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Add policies"]] {
            #expect(try Git.run(arguments, in: folder.path) == 0)
        }
        try folder.write(policy.replacing("1s", with: "1500ms"), to: "Policies/prices.json")
        return folder
    }

    @Test func revisionAloneIsThatOfTheFolderOfPolicies() async throws {
        let folder = try Self.repository()
        let output = await Output(["diff", "HEAD", "--policies", folder.path + "/Policies"])
        #expect(output.code == 0, "\(output.err)")
        #expect(
            output.out.hasPrefix("prices\n  changed  strategy network-first: patience 1s → 1500ms\n"), "\(output.out)")
        #expect(!output.out.contains("other"))
        let same = await Output(["diff", "HEAD", "HEAD", "--policies", folder.path + "/Policies"])
        #expect(same.code == 0 && same.out.hasPrefix("no difference"), "\(same.out)\(same.err)")
    }

    @Test func fileOfARevisionIsReadWithTheFileThatItExtends() throws {
        let folder = try Self.repository()
        let revision = GitRevision(name: "HEAD:Policies/prices.json", operand: "HEAD", folder: folder.path)
        #expect(try revision.isFile())
        let files = try TemporaryFolder()
        try GitRevision(name: "HEAD:Policies", operand: "HEAD", folder: folder.path).write(to: files.path)
        let names = try FileManager.default.contentsOfDirectory(atPath: files.path)
        #expect(names.sorted() == ["_base.json", "other.json", "prices.json"])
        #expect(try String(contentsOfFile: files.path + "/prices.json", encoding: .utf8).contains(#""patience": "1s""#))
    }

    @Test func problemsOfARevisionAreToldWithItsName() async throws {
        let folder = try Self.repository()
        try folder.write("{}", to: "Policies/other.json")
        #expect(try Git.run(["commit", "-q", "-a", "-m", "Break a policy"], in: folder.path) == 0)
        let output = await Output(["diff", "HEAD", "--policies", folder.path + "/Policies"])
        #expect(output.code == 1 && output.err.hasPrefix("HEAD/other.json:1:1: error: "), "\(output.err)")
    }

    @Test func unknownRevisionIsAnErrorThatNamesIt() async throws {
        let folder = try Self.repository()
        let output = await Output(["diff", "nothing", "--policies", folder.path + "/Policies"])
        #expect(output.code == 1)
        #expect(
            output.err.hasPrefix("larder: 'nothing' is neither a path nor a revision of the folder "), "\(output.err)"
        )
        let option = await Output(["diff", "--policies", folder.path + "/Policies", "--", "--output=file"])
        #expect(option.err == "larder: '--output=file' is neither a path nor a revision\n")
    }
}
