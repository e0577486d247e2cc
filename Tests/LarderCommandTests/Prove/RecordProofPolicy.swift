import LarderFoundation
import Larder
import LarderSync

@testable import LarderCommand
@testable import LarderStories

/// A folder with a policy of records that differs from a shipped one in some texts.
struct RecordProofPolicy {
    let resource: String
    let folder: Folder

    /// - Parameter changes: old texts of the shipped policy with new ones.
    init(_ resource: String = "collections", _ changes: KeyValuePairs<String, String> = [:]) throws {
        self.resource = resource
        folder = try Folder()
        var text = try String(
            contentsOf: projectFolder.appending(path: "Policies/\(resource).json"), encoding: .utf8)
        for (old, new) in changes {
            precondition(text.contains(old))
            text.replace(old, with: new)
        }
        try folder.write(text, to: resource + ".json")
    }

    func prove(_ words: String...) async -> Output {
        await Output(["prove", "--policies", folder.path] + words, registry: .shipped)
    }

    /// Plays files of histories against another policy of the same resource.
    func test(_ histories: String) async -> Output {
        await Output(["test", "--policies", folder.path, histories], registry: .shipped)
    }

    func check(_ words: String...) async -> Output {
        await Output(["check", folder.path] + words, registry: .shipped)
    }
}
