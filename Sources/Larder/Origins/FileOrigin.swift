#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Plugin {
    /// A file beside the policy.
    static let fileOrigin = Plugin.origin(
        "file", "A file below the policy's own folder, the same for every parameter.",
        Setting("path", .path, help: "The file"),
        Setting("contentType", optional: .text, help: "Its media type"),
        traits: { _, _ in Traits().with { $0.isLocal = true } }
    ) { context, path, contentType in FileOrigin(path: path, contentType: contentType, world: context.world) }
}

/// A file's bytes.
struct FileOrigin: Loader {
    let path: String
    let contentType: String?
    let world: any World

    private static let mostBytes = 64_000_000

    func load(_ call: Call) async throws -> Loaded<Entry> {
        do {
            let bytes = try await world.blocking { [path] in try Disk.read(path, limit: Self.mostBytes) }
            return Loaded(Entry(Data(bytes), Metadata(contentType: contentType)))
        } catch let failure as Disk.Failure {
            throw LoadError(.failed, failure.description, origin: failure)
        }
    }
}
