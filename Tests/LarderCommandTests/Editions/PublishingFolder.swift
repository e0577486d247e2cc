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

    /// Runs a command, with the path of the folder in place of `DIR`.
    func run(_ arguments: String..., registry: Registry = .standard, input: String = "") async -> Output {
        await Output(arguments.map { $0.replacing("DIR", with: path) }, registry: registry, input: input)
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

    /// Makes an edition and offers it with the key in `release.pem`.
    func publish(_ number: Int, _ options: String...) async -> Output {
        _ = await sign(number)
        let call = ["channel", "publish", "DIR/shop.channel", "DIR/shop-\(number).edition", "--key", "DIR/release.pem"]
        return await Output((call + options).map { $0.replacing("DIR", with: path) })
    }

    func key(_ name: String) throws -> SigningKey { try SigningKey(pem: folder.text(of: name + ".pem")) }

    func bytes(of name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.url.appending(path: name))) }

    /// The channel in `shop.channel`.
    func channel() throws -> ChannelFile {
        try ChannelFile(reading: SignedFile(.channel, reading: bytes(of: "shop.channel")))
    }
}
