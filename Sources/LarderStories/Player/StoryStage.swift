import LarderFoundation
import LarderSystem
import Larder
import LarderSimulation

/// The world of a story that is being played, with its pantry, its stores and its origin. The pantry can be opened again,
/// as by an app that is started anew.
final class StoryStage: Sendable {
    let world: SimulatedWorld
    let origin: StoryOrigin
    let stores: StoryStores
    private let player: StoryPlayer
    private let lifetime: Duration?
    private let folder: TemporaryFolder?
    private let present = Locked<Pantry?>(nil)

    init(_ player: StoryPlayer, _ story: Story, in world: SimulatedWorld) throws {
        self.player = player
        self.world = world
        folder = try player.needsFolder ? TemporaryFolder() : nil
        if let folder { try Disk.makeFolder(folder.path + "/cache") }
        lifetime = story.lifetime
        origin = StoryOrigin(story, contentType: player.contentType, in: world)
        stores = StoryStores(player.stores, in: world)
    }

    /// The folder of the pantry. It is not there if no part of the policy asks for a place in it.
    var cache: URL { folder?.url.appending(path: "cache") ?? URL(filePath: "/nonexistent/larder") }

    /// The pantry; nil before it is opened.
    var pantry: Pantry? { present.withLock { $0 } }

    /// The resource of the story.
    var resource: Resource<Data> {
        get throws(LoadError) {
            guard let pantry else { throw LoadError.notCached }
            return pantry.resource(player.resource)
        }
    }

    /// Makes a load.
    func load(_ load: Story.Load) async throws -> Loaded<Data> {
        let resource = load.decodes ? pantry?.resource(player.resource, codec: ObjectCodec()) : try resource
        let request = load.request(player.resource)
        guard let answer = try await resource?.load(request) else { throw LoadError.notCached }
        return answer
    }

    /// Releases the pantry.
    func release() {
        let pantry = present.withLock { $0.take() }
        withExtendedLifetime(pantry) {}
    }

    /// Opens the pantry, or opens it again on what its stores have kept.
    @discardableResult
    func open() async throws -> Pantry {
        stores.restart()
        let script: OriginSubstitute = { [origin] _ in origin }
        let pantry = try await Pantry(
            reader: player.reader, cache: cache, data: folder?.url.appending(path: "data") ?? cache, world: world,
            substitute: player.isOriginSimple ? script : nil, removesUnused: false, allowsBackgroundWork: false)
        present.withLock { $0 = pantry }
        return pantry
    }

    /// Puts copies into the stores.
    ///
    /// - Parameter lead: how long before zero it is now. The copies are so much younger.
    /// - Returns: notes about copies that are not kept.
    func stock(_ copies: [Story.Copy], lead: Duration) async throws -> [String] {
        guard let pantry else { return [] }
        var notes: [String] = []
        for (number, copy) in copies.enumerated() {
            let request = Request(player.resource, copy.parameters, scope: copy.scope)
            if player.stores == .simulated, copy.value == nil {
                let suffix = number == 0 ? "" : "\(number + 1)"
                stores.put(copy, for: request.key) {
                    entry($0 + suffix, age: $1 - lead, spread: copy.spread, pantry: pantry)
                }
                continue
            }
            do {
                if let note = try await stock(copy, lead: lead, for: request, pantry) {
                    notes.append("cached: " + note)
                }
            } catch let refusal as Refusal {
                notes.append("cached: refused: \(refusal.reason)")
            } catch let error as StoreError {
                notes.append("cached: not kept: \(error.message)")
            }
        }
        return notes
    }

    /// Returns a note if the copy is not kept.
    private func stock(
        _ copy: Story.Copy, lead: Duration, for request: Request, _ pantry: Pantry
    ) async throws -> String? {
        let metadata = Metadata(
            fetchedAt: world.now - (copy.age - lead), etag: copy.etag, contentType: copy.contentType,
            spread: copy.spread
        ).stating(lifetime)
        let entry = Entry(Data((copy.value?.text(indented: false) ?? "").utf8), metadata)
        guard let tier = copy.tier else {
            let isKept = try await pantry.resource(player.resource).stock(entry, for: request)
            return isKept ? nil : "not kept by the store"
        }
        guard let admitted = pantry.admitted(entry, by: player.resource) else { return "not admitted" }
        let tiers = stores.tiers
        guard tiers.indices.contains(tier - 1) else { return "there is no tier \(tier)" }
        try await tiers[tier - 1].store.stock(admitted, for: request.key)
        return nil
    }

    /// Returns a payload that is made, as the policy keeps it; nil if it does not.
    func entry(_ name: String, age: Duration, spread: Double = 0, pantry: Pantry) -> Entry? {
        let text = "{\"\(name)\":true}"
        let fetchedAt = world.now - age
        origin.record(text, at: fetchedAt)
        let metadata = Metadata(
            fetchedAt: fetchedAt, etag: "\"\(name)\"", contentType: player.contentType, spread: spread
        ).stating(lifetime)
        return pantry.admitted(Entry(Data(text.utf8), metadata), by: player.resource)
    }
}

/// A codec of payloads that are JSON objects.
private struct ObjectCodec: Codec {
    func decode(_ bytes: Data) throws -> Data {
        guard bytes.first == UInt8(ascii: "{") else { throw StoryError(message: "no object") }
        return bytes
    }
}
