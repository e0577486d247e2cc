#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

/// A pantry of one resource in scripted surroundings: where plugins are put to the test.
struct Stage: Sendable {
    static let resource = "conformance"

    let world: SimulatedWorld
    let origin: ScriptedOrigin
    let store: FaultyStore
    let pantry: Pantry
    private let folder: TemporaryFolder

    /// A pantry whose only policy says what `members` say, with a scripted origin and a faulty store where they say
    /// nothing.
    init(
        _ world: SimulatedWorld, _ members: [JSON.Member], plugins: [Plugin] = [], registry: Registry,
        isForeign: Bool = true, files: [String: String] = [:], cache: TemporaryFolder? = nil
    ) async throws {
        self.world = world
        origin = ScriptedOrigin(world: world)
        store = FaultyStore("conformance-store", isForeign: isForeign, world: world)
        var registry = registry
        for plugin in [origin.plugin("conformance-origin"), store.plugin] + plugins {
            registry = try registry.replacing(plugin)
        }
        var policy: [JSON.Member] = [
            .init("resource", .string(Self.resource)), .init("origin", "conformance-origin"),
            .init("strategy", "network-only"), .init("store", "conformance-store"),
        ]
        for member in members {
            policy.removeAll { $0.name == member.name }
            policy.append(member)
        }
        folder = try TemporaryFolder()
        for (name, text) in files { try folder.write(text, to: name) }
        try folder.write(JSON.object(policy).text(), to: Self.resource + ".json")
        pantry = try await Pantry(
            policies: URL(filePath: folder.path), registry: registry,
            cache: URL(filePath: (cache ?? folder).path + "/cache"), environment: [:], world: world)
    }

    /// The strategy that was composed, with what it declares.
    var strategy: Part? { pantry.policy(of: Self.resource)?.strategy }

    var handle: Resource<String> { pantry.resource(Self.resource, codec: Words()) }

    static func key(_ parameters: [String: String] = [:], scope: String? = nil) -> Key {
        Key(resource: resource, scope: scope, parameters: parameters)
    }

    /// What the store holds, as text.
    func held(_ key: Key = Stage.key()) -> String? {
        store.entries[key].map { String(decoding: $0.payload.bytes, as: UTF8.self) }
    }

    /// Starts a load beside the scenario.
    func load(
        _ parameters: [String: String] = [:], scope: String? = nil, mode: Request.Mode = .normal,
        deadline: Duration? = nil
    ) -> Watched<Loaded<String>> {
        Watched(in: world) { [handle] in
            try await handle.load(parameters, scope: scope, mode: mode, deadline: deadline)
        }
    }

    /// Tasks that go on besides the scenario's own.
    var leftRunning: Int { world.unfinished - 1 }
}

/// Text, except `broken`, which it cannot read.
struct Words: Codec {
    struct Unreadable: Error {}

    static let unreadable = "broken"

    func decode(_ bytes: Data) throws -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        if text == Self.unreadable { throw Unreadable() }
        return text
    }
}

extension JSON {
    /// A plugin reference: these settings, with `use` before them.
    static func use(_ name: String, _ settings: JSON) -> JSON {
        guard case .object(let members) = settings else { return .string(name) }
        return .object([Member("use", .string(name))] + members)
    }
}

extension World {
    /// Lets everything run that can run now; no time passes.
    func settle() async throws { try await sleep(for: .zero) }
}

/// A folder of its own that goes when nobody needs it any more.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/larder-\(UUID().uuidString)"
        try Disk.makeFolder(path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func write(_ text: String, to name: String) throws {
        let path = path + "/" + name
        if let slash = path.lastIndex(of: "/") { try Disk.makeFolder(String(path[..<slash])) }
        try Disk.replace(path, with: [Array(text.utf8)])
    }
}
