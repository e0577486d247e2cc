import Larder
import LarderEditions

extension Subcommand {
    static let verifyEdition = Subcommand(
        name: "verify", operands: "FILE", summary: "Verifies the signatures of an edition and the plugins it needs",
        options: [
            .keys,
            Command.Option(
                "policies", value: "DIR", help: "Also check its policies as an app with this folder of policies would"),
            .assume,
        ],
        run: { call in
            let path = call.operands[0]
            let keys = try call.publicKeys()
            if keys.isEmpty { throw UsageError(message: "--keys is missing: it takes public keys such as ed25519:…") }
            let file = try call.signedFile(.edition, at: path)
            let (edition, signers): (EditionFile, [PublicKey])
            do {
                signers = try file.signers(among: keys)
                edition = try EditionFile(reading: file)
            } catch let error as EditionError {
                throw CommandFailure("\(path): \(error)")
            }
            if let need = edition.unmetNeed(in: call.registry) { throw CommandFailure("\(path): \(need)") }
            if let folder = call.arguments.value(of: "policies") { try call.checkReach(of: edition, in: folder) }
            let policies = edition.policies.keys.sorted()
            call.print(
                [
                    "edition \(edition.number) of channel \(edition.channel)" + (edition.about.map { ": \($0)" } ?? ""),
                    "  signed by \(signers.map(\.id).joined(separator: ", "))", "  digest \(file.digest)",
                    "  policies \(policies.joined(separator: ", "))",
                ],
                json: [
                    "file": .string(path), "digest": .string(file.digest), "channel": .string(edition.channel),
                    "number": .int(edition.number), "about": edition.about.map(JSON.string) ?? .null,
                    "signers": .list(signers.map { .string("\($0)") }), "policies": .list(policies.map(JSON.string)),
                ])
            return true
        })
}
