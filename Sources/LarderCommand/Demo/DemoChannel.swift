import LarderFoundation
import Larder
import LarderEditions
import LarderSystem

/// The web server of a channel in the demo, and the team that signs its files.
final class DemoChannel: Loader {
    private struct State {
        var channel: ChannelFile
        var files: [String: [UInt8]] = [:]
    }

    private let world: any World
    private let registry: Registry
    private let key: SigningKey
    private let state: Locked<State>

    init(in world: any World, registry: Registry) throws {
        (self.world, self.registry) = (world, registry)
        key = try SigningKey.generate(in: world)
        let until = world.now + .seconds(30 * 86_400)
        state = Locked(State(channel: ChannelFile(name: "shop", revision: 0, until: until, editions: [])))
    }

    /// The section of `_larder.json` that names the channel.
    var section: String {
        #"{ "channel": { "name": "shop", "origin": "demo-channel", "release": ["\#(key.publicKey)"] } }"#
    }

    /// The origin of the channel's files.
    var plugin: Plugin {
        .origin("demo-channel", "The files of the demo's channel.", traits: { .with { $0.parameters = ["file"] } }) {
            _ in
            self
        }
    }

    /// Signs an edition of one policy, and offers it to all installations before the editions so far.
    func publish(_ number: Int, _ policy: String) throws {
        let policies = ["prices.json": try JSON(reading: Array(policy.utf8))]
        var edition = try EditionFile(
            channel: "shop", number: number, plugins: EditionFile.needs(of: policies, in: registry), policies: policies
        ).file()
        try edition.sign(with: key)
        try state.withLock { state in
            let name = "shop-\(number).edition"
            state.channel.revision += 1
            state.channel.editions.insert(
                ChannelFile.Listed(digest: edition.digest, at: name, to: ChannelFile.Audience(salt: "\(number)")), at: 0
            )
            var channel = try state.channel.file()
            try channel.sign(with: key)
            state.files[name] = edition.bytes
            state.files["shop.channel"] = channel.bytes
        }
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        try await world.sleep(for: .milliseconds(60))
        guard let bytes = state.withLock({ $0.files[call.request.parameters["file"] ?? ""] }) else {
            throw LoadError.status(404)
        }
        let etag = SHA256.hex(bytes)
        if call.known?.metadata.etag == etag { return try .unchanged(call) }
        return Loaded(Entry(Data(bytes), Metadata(etag: etag)))
    }
}
