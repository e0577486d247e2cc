import Foundation
import Larder
import LarderEditions

@testable import LarderCommand

/// A folder with policies, a key in `release.pem`, and signed editions, on which the commands work.
struct PublishingFolder {
    let folder: Folder
    var path: String { folder.path }

    static let motto = #"""
        { "extends": "_base.json", "resource": "motto", "origin": { "use": "constant", "value": { "text": "less" } } }
        """#

    init() async throws {
        folder = try Folder()
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Policies"), withIntermediateDirectories: true)
        try folder.write(Self.motto, to: "Policies/motto.json")
        try folder.write(#"{ "strategy": "network-only" }"#, to: "Policies/_base.json")
        try folder.write(#"{ "metrics": { "every": "1h" } }"#, to: "Policies/_larder.json")
        try folder.write("{}", to: "Policies/policy.schema.json")
        for name in ["release", "steer"] {
            _ = await run("edition", "key", "--out", "DIR/\(name).pem")
        }
    }

    /// Makes the private key `other.pem`, which no app knows.
    func makeOtherKey() async { _ = await run("edition", "key", "--out", "DIR/other.pem") }

    /// Names a channel and its keys in `_larder.json`.
    func nameKeys(channel: String = "shop") throws {
        let (release, steer) = try (key("release").publicKey, key("steer").publicKey)
        try folder.write(
            #"""
            { "channel": { "name": "\#(channel)", "origin": { "use": "http", "url": "https://a.example/{file}" },
              "release": ["\#(release)"], "steer": ["\#(steer)"] } }
            """#, to: "Policies/_larder.json")
    }

    /// Runs a command, with the path of the folder in place of `DIR`.
    func run(_ arguments: String..., registry: Registry = .shipped, input: String = "") async -> Output {
        await run(arguments, registry: registry, input: input)
    }

    /// Runs a command, with the path of the folder in place of `DIR`. Commands of `channel` know the keys in `Policies`
    /// unless they are called with others.
    func run(_ arguments: [String], registry: Registry = .shipped, input: String = "") async -> Output {
        var words = arguments
        let settings = try? folder.text(of: "Policies/_larder.json")
        if words.first == "channel", settings?.contains("channel") == true,
            !words.contains("--keys"), !words.contains("--policies")
        {
            words += ["--policies", "DIR/Policies"]
        }
        return await Output(words.map { $0.replacing("DIR", with: path) }, registry: registry, input: input)
    }

    /// Makes `shop-NUMBER.edition.json`.
    func make(_ number: Int) async -> Output {
        await run(
            "edition", "new", "DIR/Policies", "--channel", "shop", "--number", "\(number)", "--out",
            "DIR/shop-\(number).edition.json")
    }

    /// Makes `shop-NUMBER.edition`, signed by `release.pem`.
    func sign(_ number: Int) async -> Output {
        _ = await make(number)
        return await run("edition", "sign", "DIR/shop-\(number).edition.json", "--key", "DIR/release.pem")
    }

    /// Makes an edition and offers it with the key in `release.pem`. The first one makes the channel.
    func publish(_ number: Int, _ options: String...) async -> Output {
        _ = await sign(number)
        let call = ["channel", "publish", "DIR/shop.channel", "DIR/shop-\(number).edition", "--key", "DIR/release.pem"]
        let isNew = !FileManager.default.fileExists(atPath: path + "/shop.channel")
        return await run(call + options + (isNew ? ["--new"] : []))
    }

    func key(_ name: String) throws -> SigningKey { try SigningKey(pem: folder.text(of: name + ".pem")) }

    func bytes(of name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.url.appending(path: name))) }

    /// The channel in `shop.channel`.
    func channel() throws -> ChannelFile {
        try ChannelFile(reading: SignedFile(.channel, reading: bytes(of: "shop.channel")))
    }
}
