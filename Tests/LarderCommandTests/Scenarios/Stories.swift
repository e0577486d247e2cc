import LarderFoundation
import Testing

@testable import LarderCommand
@testable import LarderStories

/// A folder of policies that contains scenario files.
struct Stories {
    let folder: Folder

    /// Creates a folder with the shipped policies, and the shipped scenarios if `shipped`.
    init(shipped: Bool = false) throws {
        folder = try Folder.withPolicies()
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Scenarios"), withIntermediateDirectories: true)
        guard shipped else { return }
        for name in ["feed", "images", "catalog"] {
            let file = projectFolder.appending(path: "Policies/Scenarios/\(name).json")
            try folder.write(String(contentsOf: file, encoding: .utf8), to: "Scenarios/\(name).json")
        }
    }

    /// Returns the output for the folder, without the folder's own path.
    func told(_ arguments: String...) async -> Output {
        var output = await Output(["test", "--policies", folder.path] + arguments)
        output.out = output.out.replacing(folder.path + "/", with: "")
        return output
    }

    /// Returns the output for one scenario of a resource, without names, summary and indentation.
    func drawn(_ scenario: String, of resource: String = "feed", passes: Bool = false) async throws -> [String] {
        let text = #"{ "resource": "\#(resource)", "scenarios": [{ "name": "it", \#(scenario) }] }"#
        try folder.write(text, to: "Scenarios/\(resource).json")
        let output = await told("--draw")
        #expect(output.code == (passes ? 0 : 1), "\(output.out)")
        let lines = output.out.split(separator: "\n").map(String.init)
        #expect(lines.last == "1 scenario in 1 file: \(passes ? "1 passed, 0 failed" : "0 passed, 1 failed")")
        return lines.dropFirst(2).dropLast().map { String($0.drop { $0 == " " }) }
    }

    /// Returns the problems of a file, without its name.
    func problems(_ text: String) async throws -> [String] {
        try folder.write(text, to: "Scenarios/feed.json")
        let output = await told()
        #expect(output.code == 1)
        let prefix = "Scenarios/feed.json:"
        return output.out.split(separator: "\n").filter { $0.hasPrefix(prefix) }.map {
            String($0.dropFirst(prefix.count))
        }
    }
}
