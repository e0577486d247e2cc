import Larder
import LarderEditions
import LarderSystem

extension Subcommand {
    static let signEdition = Subcommand(
        name: "sign", operands: "FILE", summary: "Signs an edition",
        options: [.key, .out, .keys, .appPolicies], example: "shop-42.edition.json --key release.pem",
        run: { call in
            let path = call.operands[0]
            let bytes = try call.contents(of: path)
            let isSigned = bytes.starts(with: Array("larder-signed/".utf8))
            let out = call.arguments.value(of: "out")
            if isSigned, out == nil {
                throw UsageError(message: "\(path) is signed already; --out names the file with one more signature")
            }
            let target = out ?? name(ofSigned: path)
            if target != path || !isSigned { try call.refuseTarget(target) }
            var (file, edition): (SignedFile, EditionFile)
            do {
                file = try isSigned ? SignedFile(.edition, reading: bytes) : SignedFile(.edition, payload: bytes)
                edition = try EditionFile(reading: file)
            } catch let error as EditionError {
                throw CommandFailure("\(path): \(error)")
            }
            let keys = try call.signingKeys()
            let known = try call.knownKeys(of: edition.channel)
            guard known.all.isEmpty || keys.contains(where: { known.release.contains($0.publicKey) }) else {
                let ids = keys.map(\.publicKey.id).joined(separator: ", ")
                throw CommandFailure(
                    "the key of --key (\(ids)) is no release key of the app, which would refuse the edition")
            }
            for key in keys { try file.sign(with: key) }
            try call.write(file.bytes, to: target)
            let next = publishing(edition, in: target)
            call.print(
                [
                    "wrote \(target): edition \(edition.number) of channel \(edition.channel), signed by "
                        + "\(file.keyIDs.joined(separator: ", ")); the next command is", "  " + next,
                ],
                json: [
                    "file": .string(target), "digest": .string(file.digest), "channel": .string(edition.channel),
                    "number": .int(edition.number), "signers": .list(file.keyIDs.map(JSON.string)),
                    "next": [.string(next)],
                ])
            return true
        })

    /// `shop-42.edition.json` becomes `shop-42.edition`.
    private static func name(ofSigned path: String) -> String {
        let stem = path.hasSuffix(".json") ? String(path.dropLast(".json".count)) : path
        return stem.hasSuffix(".edition") && stem != path ? stem : stem + ".edition"
    }

    /// The command that offers an edition in the channel next to it.
    private static func publishing(_ edition: EditionFile, in path: String) -> String {
        let folder = Disk.split(path).folder
        let channel = (folder == "." ? "" : folder + "/") + edition.channel + ".channel"
        let isNew = Disk.item(channel) == nil
        return shellCommand(
            ["channel", "publish", channel, path, "--share", "5%", "--key", "release.pem"] + (isNew ? ["--new"] : []))
    }
}
