import Larder

@testable import LarderEditions

/// Signs editions and channels, as a team does.
struct Publisher {
    let release: SigningKey
    let steer: SigningKey
    let stranger: SigningKey
    var files: [String: [UInt8]] = [:]
    var channel: ChannelFile

    init(_ name: String = "shop", in world: any World, until: Timestamp = Timestamp(seconds: 4_000_000_000)) throws {
        release = try SigningKey.generate(in: world)
        steer = try SigningKey.generate(in: world)
        stranger = try SigningKey.generate(in: world)
        channel = ChannelFile(name: name, revision: 0, until: until, editions: [])
    }

    /// Makes an edition.
    func edition(
        _ number: Int, _ policies: [String: JSON] = ["feed.json": [:]], needs: [String: String] = [:],
        of channel: String? = nil, by key: SigningKey? = nil
    ) throws -> SignedFile {
        let edition = EditionFile(
            channel: channel ?? self.channel.name, number: number, plugins: needs, policies: policies)
        var file = try edition.file()
        try file.sign(with: key ?? release)
        return file
    }

    /// Puts an edition at the top of the channel, for a share of all installations.
    mutating func offer(_ file: SignedFile, _ number: Int, share: Double = 1, rings: [String]? = nil) {
        let at = "\(channel.name)-\(number).edition"
        files[at] = file.bytes
        let audience = ChannelFile.Audience(rings: rings, share: share, salt: "\(number)")
        channel.editions.insert(ChannelFile.Listed(digest: file.digest, at: at, to: audience), at: 0)
        channel.editions = Array(channel.editions.prefix(8))
    }

    /// Signs the next revision of the channel.
    @discardableResult
    mutating func publish(by key: SigningKey? = nil) throws -> [UInt8] {
        channel.revision += 1
        var file = try channel.file()
        try file.sign(with: key ?? steer)
        files[channel.name + ".channel"] = file.bytes
        return file.bytes
    }

    /// Signs the next revision, and returns an installation that has asked for it.
    mutating func installation() throws -> Installation {
        try publish(by: release)
        var app = Installation(rules())
        try app.start()
        try app.poll(files)
        return app
    }

    func rules(pin: Int? = nil, ring: String = "stable", registry: Registry = Registry()) -> EditionRules {
        EditionRules(
            name: channel.name, ring: ring, release: [release.publicKey], steer: [steer.publicKey],
            confirmingLoads: 3, pin: pin, registry: registry)
    }
}
