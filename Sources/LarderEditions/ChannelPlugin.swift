public import Larder
import LarderSystem

/// The settings of the section `channel`.
struct ChannelSettings {
    let name = Setting("name", .name, help: "The name of the channel; the file NAME.channel has it")
    let origin = Setting(
        "origin", .part(.origin),
        help:
            "Where the files come from, with {file} for their name: { \"use\": \"http\", \"url\": \"https://cfg.example.com/{file}\" }"
    )
    let every = Setting(
        "every", .duration(.seconds(10) ... .seconds(31 * 86_400)), default: .seconds(900),
        help: "How often the channel is asked for, give or take a tenth"
    ).alsoCalled("interval", "period")
    let ring = Setting("ring", .name, default: "stable", help: "The ring of this installation, such as \"beta\"")
    let release = Setting(
        "release", .list(of: .publicKey, atLeast: 1), help: "The keys that may sign editions and the channel"
    ).alsoCalled("keys", "key", "publicKey")
    let steer = Setting(
        "steer", .list(of: .publicKey), default: [],
        help: "The keys that may sign the channel only: they decide who gets an edition")
    let reach = Setting(
        "reach", .list(of: .reachedKey, atLeast: 1), default: Editions.usualReach,
        help: "The keys of policies in which an edition may differ from the app's own policies")
    let confirmAfter = Setting(
        "confirmAfter", .int(1...1_000_000), default: 20,
        help:
            "The number of answered loads after which an edition has proved itself; the channel must have been reached, too"
    )
    let pin = Setting(
        "pin", optional: .int(0...1_000_000_000),
        help: "The number of the edition to stay on, 0 for the app's own policies (default: what the channel says)")
    let emergency = Setting(
        "emergency", optional: .carriedEdition,
        help: "A signed edition in the folder of policies, which is used while the channel tells of an emergency")
}

extension Plugin {
    /// The section `channel` of `_larder.json`: policies that come over the network. Register it with the plugins of the
    /// app:
    ///
    /// ```swift
    /// var registry = Registry.standard
    /// try registry.register(.channel)
    /// ```
    public static let channel = Plugin.pantrySection(
        "channel", "Gets signed policies over the network, in place of those that came with the app.",
        .group(ChannelSettings())
    ) { context, settings in
        // Messages of other errors are not shown.
        do { return try Editions(settings, context) } catch let error as EditionError {
            throw StoreError(error.description)
        } catch let error as SystemLibrary.Failure { throw StoreError(error.description) }
    }
}

extension EditionRules {
    /// Makes the rules of a channel, and checks what the settings cannot check one by one.
    ///
    /// - Throws: ``EditionError``; on Linux, the error that names the package to install if libcrypto is missing.
    init(_ settings: SettingValues<ChannelSettings>, registry: Registry) throws {
        try Ed25519.require()
        self.init(
            name: settings.name, ring: settings.ring, release: settings.release, steer: settings.steer,
            confirmingLoads: settings.confirmAfter, pin: settings.pin, registry: registry)
        guard settings.origin.originTraits.parameters?.contains("file") ?? true else {
            throw EditionError(.badFile, "the origin of the channel does not take {file}")
        }
        if let key = steer.first(where: release.contains) {
            throw EditionError(.unknownKey, "key \(key.id) is under 'release' and 'steer'; a key can be one of them")
        }
        let unusual = settings.reach.filter { !Editions.usualReach.contains($0) }
        if !unusual.isEmpty {
            let known = PluginDeclarations(registry).policyKeys
            if let key = unusual.first(where: { !known.contains($0) }) {
                throw EditionError(.reach, "'reach' names '\(key)', which is no key of policies in this app")
            }
        }
    }
}

extension SettingType where Value == PublicKey {
    /// A key that checks signatures.
    fileprivate static var publicKey: SettingType<PublicKey> {
        let expectation = "a key such as \"ed25519:…\", as 'larder edition key' prints it"
        return SettingType(
            "key", expectation: expectation,
            schema: ["type": "string", "pattern": "^ed25519:[A-Za-z0-9+/]{43}=$"],
            example: "ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", show: { "\"\($0)\"" },
            read: { node, reading in
                guard let key = node.string.flatMap(PublicKey.init) else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                return key
            })
    }
}

extension SettingType where Value == SignedFile {
    /// A signed edition in the folder of policies.
    fileprivate static var carriedEdition: SettingType<SignedFile> {
        let path = SettingType<String>.path
        let expectation = "an edition below the policy's folder, as 'larder edition sign' writes it"
        return SettingType(
            "path", expectation: expectation, schema: path.schema, example: "shop-900.edition", show: { _ in nil },
            read: { node, reading in
                guard let path = path.read(node, reading) else { return nil }
                do {
                    let file = try SignedFile(.edition, reading: Disk.read(path, limit: SignedFile.mostBytes + 1))
                    _ = try EditionFile(reading: file)
                    return file
                } catch {
                    reading.report("\(error)", at: node.position, expected: expectation)
                    return nil
                }
            })
    }
}

extension SettingType where Value == String {
    /// A key of policies that editions may change.
    fileprivate static var reachedKey: SettingType<String> {
        let expectation = "a key of policies such as \"strategy\""
        return SettingType(
            "key of policies", expectation: expectation, schema: ["type": "string", "not": ["enum": .list(fixed)]],
            example: "strategy", show: { "\"\($0)\"" },
            read: { node, reading in
                guard let key = node.string, !key.isEmpty else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                guard !fixed.contains(.string(key)) else {
                    reading.report("no edition can change '\(key)'", at: node.position, expected: expectation)
                    return nil
                }
                return key
            })
    }

    private static var fixed: [JSON] { ["origin", "store", "resource", "extends", "log"] }
}
