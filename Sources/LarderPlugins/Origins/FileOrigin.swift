import LarderFoundation
import LarderSystem
import LarderCore

extension Plugin {
    /// An origin that reads a file of the policy's folder.
    static let fileOrigin = Plugin.origin(
        "file", "Reads a file in the policy's folder, the same for all parameters.",
        Setting("path", .path, help: "The path of the file, relative to the policy's folder")
            .identifiesData(),
        Setting("contentType", optional: .text, help: "The media type of the file"),
        traits: { _, _ in .with { $0.isLocal = true } }
    ) { context, path, contentType in FileOrigin(path: path, contentType: contentType, world: context.world) }
}

/// A loader that answers with the bytes of a file.
struct FileOrigin: Loader {
    let path: String
    let contentType: String?
    let world: any World

    private static let maximumBytes = 64_000_000

    func load(_ call: Call) async throws -> Loaded<Entry> {
        do {
            let bytes = try await world.blocking(on: path, atMost: 4) { [path] in
                try Disk.read(path, limit: Self.maximumBytes)
            }
            return Loaded(Entry(Data(bytes), Metadata(contentType: contentType)))
        } catch let failure as Disk.Failure {
            throw LoadError(.failed, failure.description, origin: failure)
        }
    }
}
