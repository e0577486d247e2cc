import Larder
import LarderEditions

extension Subcommand {
    static let verifyEdition = Subcommand(
        name: "verify", operands: "FILE", summary: "Verifies the signatures of an edition and the plugins it needs",
        options: [
            .keys,
            Command.Option(
                "policies", value: "DIR",
                help:
                    "The app's policies: take the keys in their _larder.json, and check that an app with them can use "
                    + "the edition"),
            .assume,
        ],
        example: "shop-42.edition --policies Released",
        run: { call in
            let path = call.operands[0]
            let (file, edition) = try call.edition(at: path)
            let known = try call.knownKeys(of: edition.channel)
            if known.all.isEmpty {
                throw UsageError(message: "no key of the app is known: --policies DIR or --keys KEY,… names them")
            }
            let signers = try known.signers(ofEdition: file, at: path)
            if let need = edition.unmetNeed(in: call.registry) { throw CommandFailure("\(path): \(need)") }
            if let folder = call.arguments.value(of: "policies") {
                try call.checkReach(of: edition.texts, from: path, in: folder)
            }
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
