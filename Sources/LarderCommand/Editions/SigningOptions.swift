import Larder
import LarderEditions
import LarderSystem

extension Command.Option {
    static let key = Command.Option(
        "key", value: "FILE", help: "A private key in PEM, or - for the input; repeatable, for several signatures")
    static let keys = Command.Option(
        "keys", value: "KEY,…", help: "The public keys that apps know, such as ed25519:…; repeatable")
    static let appPolicies = Command.Option(
        "policies", value: "DIR",
        help: "The app's policies, whose _larder.json names the public keys (default: Policies, unless --keys is given)"
    )
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
        do { return try Disk.read(file, limit: most) } catch {
            throw CommandFailure(
                error.code == Disk.tooLarge ? "\(file) is larger than \(most.spelledSize)" : "\(file): \(error)")
        }
    }

    /// Reads a signed channel. No signature is verified.
    func channel(at path: String) throws -> (file: SignedFile, channel: ChannelFile) {
        do {
            let file = try SignedFile(.channel, reading: try contents(of: path))
            return (file, try ChannelFile(reading: file))
        } catch let error as EditionError { throw CommandFailure("\(path): \(error)") }
    }

    /// Reads a signed edition. No signature is verified.
    func edition(at path: String) throws -> (file: SignedFile, edition: EditionFile) {
        let bytes = try contents(of: path)
        do {
            let file = try SignedFile(.edition, reading: bytes)
            return (file, try EditionFile(reading: file))
        } catch {
            let isUnsigned = bytes.first == UInt8(ascii: "{")
            throw CommandFailure("\(path): \(error)" + (isUnsigned ? "; 'larder edition sign' signs it" : ""))
        }
    }

    /// Fails if a file is there already, or cannot be made because its folder is missing.
    func refuseTarget(_ path: String) throws(CommandFailure) {
        if Disk.item(path) != nil { throw CommandFailure("\(path) exists already") }
        let folder = Disk.split(path).folder
        if Disk.item(folder)?.isFolder != true { throw CommandFailure("\(path): there is no folder \(folder)") }
    }

    /// Writes a file in one step. A link stays, and its target is replaced.
    func write(_ bytes: [UInt8], to path: String, isPrivate: Bool = false) throws(CommandFailure) {
        do { try Disk.replace(Disk.realPath(path) ?? path, with: [bytes], isPrivate: isPrivate) } catch {
            throw CommandFailure("\(path): \(error)")
        }
    }
}
