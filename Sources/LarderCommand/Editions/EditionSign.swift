import Larder
import LarderEditions
import LarderSystem

extension Subcommand {
    static let signEdition = Subcommand(
        name: "sign", operands: "FILE", summary: "Signs an edition",
        options: [.key, .out],
        run: { call in
            let path = call.operands[0]
            let bytes = try call.contents(of: path)
            let isSigned = bytes.starts(with: Array("larder-signed/".utf8))
            let out = call.arguments.value(of: "out")
            if isSigned, out == nil {
                throw UsageError(message: "\(path) is signed already; --out names the file with one more signature")
            }
            let target = out ?? name(ofSigned: path)
            if target != path || !isSigned { try call.refuseExisting(target) }
            var (file, edition): (SignedFile, EditionFile)
            do {
                file = try isSigned ? SignedFile(.edition, reading: bytes) : SignedFile(.edition, payload: bytes)
                edition = try EditionFile(reading: file)
            } catch let error as EditionError {
                throw CommandFailure("\(path): \(error)")
            }
            for key in try call.signingKeys() { try file.sign(with: key) }
            try Disk.replace(target, with: [file.bytes], isPrivate: false)
            call.print(
                [
                    "wrote \(target): edition \(edition.number) of channel \(edition.channel), signed by "
                        + file.keyIDs.joined(separator: ", ")
                ],
                json: [
                    "file": .string(target), "digest": .string(file.digest), "channel": .string(edition.channel),
                    "number": .int(edition.number), "signers": .list(file.keyIDs.map(JSON.string)),
                ])
            return true
        })

    /// `shop-42.edition.json` becomes `shop-42.edition`.
    private static func name(ofSigned path: String) -> String {
        let stem = path.hasSuffix(".json") ? String(path.dropLast(".json".count)) : path
        return stem.hasSuffix(".edition") && stem != path ? stem : stem + ".edition"
    }
}
