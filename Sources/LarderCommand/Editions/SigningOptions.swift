import Larder
import LarderEditions
import LarderSystem

extension Command.Option {
    static let key = Command.Option(
        "key", value: "FILE", help: "A private key in PEM, or - for the input; repeatable, for several signatures")
    static let keys = Command.Option(
        "keys", value: "KEY,…", help: "The public keys that may sign, such as ed25519:…; repeatable")
    static let out = Command.Option(
        "out", value: "FILE",
        help: "The file to write (default: release.pem, NAME-NUMBER.edition.json or NAME-NUMBER.edition)")
}

extension Subcommand.Call {
    /// The private keys that `--key` names. At least one must be given.
    func signingKeys() throws -> [SigningKey] {
        let files = arguments.values(of: Command.Option.key.name)
        if files.isEmpty { throw UsageError(message: "--key FILE is missing: it names a private key in PEM") }
        guard files.filter({ $0 == "-" }).count < 2 else {
            throw UsageError(message: "the input can be read only once, so --key - goes only once")
        }
        return try files.map { file in
            let bytes = file == "-" ? terminal.input() : try contents(of: file, atMost: 100_000)
            do {
                return try SigningKey(pem: String(decoding: bytes, as: UTF8.self))
            } catch let error as SigningKey.Failure {
                throw CommandFailure("\(file == "-" ? "the input" : file): \(error)")
            }
        }
    }

    /// The public keys that `--keys` names.
    func publicKeys() throws(UsageError) -> [PublicKey] {
        try arguments.values(of: Command.Option.keys.name).flatMap { $0.split(separator: ",") }.map {
            text throws(UsageError) in
            guard let key = PublicKey(String(text)) else {
                throw UsageError(
                    message: "--keys takes public keys such as ed25519:…, as 'larder edition key' prints them")
            }
            return key
        }
    }

    /// Returns the bytes of a file.
    func contents(of file: String, atMost most: Int = SignedFile.mostBytes) throws(CommandFailure) -> [UInt8] {
        do { return try Disk.read(file, limit: most) } catch { throw CommandFailure("\(file): \(error)") }
    }

    /// Reads a signed file.
    func signedFile(_ kind: SignedFile.Kind, at path: String) throws -> SignedFile {
        let bytes = try contents(of: path)
        do { return try SignedFile(kind, reading: bytes) } catch { throw CommandFailure("\(path): \(error)") }
    }

    /// Fails if a file is there already.
    func refuseExisting(_ path: String) throws(CommandFailure) {
        if Disk.item(path) != nil { throw CommandFailure("\(path) exists already") }
    }
}
