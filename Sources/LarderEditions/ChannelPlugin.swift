public import Larder

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
    ) { context, settings in try Editions(settings, context) }
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
