import LarderFoundation
import Larder
import Testing

@testable import LarderCommand

/// The outputs of `diff` and `prove` in README and in the articles.
@Suite struct ReadmePromiseTests {
    /// The lines after a command, up to the first that is left out.
    private static func lines(after command: String, in path: String) throws -> String {
        let text = try String(contentsOf: projectFolder.appending(path: path), encoding: .utf8)
        let rest = try #require(text.components(separatedBy: "$ \(command)\n").dropFirst().first)
        let block = rest.components(separatedBy: "\n```")[0]
        let shown = block.components(separatedBy: "\n…")[0]
        #expect(!shown.isEmpty)
        return shown
    }

    private static func changed(_ name: String, _ old: String, _ new: String) throws -> Folder {
        let folder = try Folder.withPolicies()
        try folder.edit(name, old, new)
        return folder
    }

    @Test func readmeShowsTheActualDifference() async throws {
        let folder = try Self.changed("feed.json", #""use": "network-first""#, #""use": "stale-while-revalidate""#)
        let output = await Output(
            ["diff", "Policies", folder.path, "--no-prove"].map {
                $0 == "Policies" ? projectFolder.path + "/Policies" : $0
            })
        let shown = try Self.lines(after: "swift run larder diff HEAD", in: "README.md")
        #expect(output.out.hasPrefix(shown + "\n") && shown.contains("→"), "\(output.out)")
    }

    @Test func articleShowsTheActualDifference() async throws {
        let folder = try Self.changed("catalog.json", #""patience": "1s""#, #""patience": "2s""#)
        let former = try Folder.withPolicies()
        let output = await Output(["diff", former.path, folder.path, "--no-prove"])
        let article = "Sources/Larder/Larder.docc/ComparingPolicies.md"
        #expect(try output.out == Self.lines(after: "larder diff HEAD", in: article) + "\n")
    }

    @Test func readmeAndArticleShowTheActualRefutation() async throws {
        let folder = try Self.changed("catalog.json", #""onError": "355m""#, #""onError": "6h""#)
        let output = await Output(["prove", "--policies", folder.path, "catalog"])
        let shown = [
            try Self.lines(after: "swift run larder prove catalog", in: "README.md"),
            try Self.lines(after: "larder prove catalog", in: "Sources/Larder/Larder.docc/ProvingPromises.md"),
        ]
        for lines in shown { #expect(output.out.hasPrefix(lines), "\(output.out)") }
    }
}
