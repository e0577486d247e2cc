import Larder
import LarderEditions

extension Subcommand {
    static let makeKey = Subcommand(
        name: "key", operands: "", summary: "Makes a private key and prints its public key",
        options: [.out], example: "--out release.pem",
        run: { call in
            let path = call.arguments.value(of: "out") ?? "release.pem"
            try call.refuseTarget(path)
            let key = try SigningKey.generate()
            try call.write(Array(key.pem.utf8), to: path, isPrivate: true)
            call.terminal.note(
                "wrote the private key \(path), which only you can read; keep it secret, and outside of the app")
            call.print(
                ["\(key.publicKey)"],
                json: [
                    "file": .string(path), "key": .string("\(key.publicKey)"), "id": .string(key.publicKey.id),
                ])
            return true
        })
}
