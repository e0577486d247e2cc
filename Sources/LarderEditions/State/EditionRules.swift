import Larder
import LarderFoundation
import LarderSystem

/// The settings of a channel that decide which edition is taken.
struct EditionRules: Sendable {
    /// The name of the channel.
    var name: String
    var ring: String
    /// The keys that may sign editions and channels.
    var release: [PublicKey]
    /// The keys that may sign channels only.
    var steer: [PublicKey] = []
    /// The number of answered loads after which an edition has proved itself. The channel must have been reached under it, too.
    var confirmingLoads = 20
    /// The number of the edition to use, 0 for the app's own policies; nil to follow the channel.
    var pin: Int?
    /// The edition that the app carries, for the time in which the channel tells of an emergency.
    var emergency: KeptEdition?
    /// The plugins of the app.
    var registry: Registry

    /// Reads a channel that may be hostile.
    ///
    /// - Throws: ``EditionError``; an error of the system's cryptography.
    func channel(_ bytes: [UInt8]) throws -> (channel: ChannelFile, digest: String) {
        let file = try SignedFile(.channel, reading: bytes)
        _ = try file.signers(among: release + steer)
        let channel = try ChannelFile(reading: file)
        guard channel.name == name else { throw EditionError(.badFile, "this is another channel") }
        return (channel, file.digest)
    }

    /// Reads an edition that may be hostile.
    ///
    /// - Parameter digest: its digest in the channel.
    /// - Throws: ``EditionError``; an error of the system's cryptography.
    func edition(_ bytes: [UInt8], digest: String) throws -> EditionFile {
        let file = try SignedFile(.edition, reading: bytes)
        guard file.digest == digest else {
            throw EditionError(.wrongDigest, "the file is another one than the channel names")
        }
        _ = try file.signers(among: release)
        let edition = try EditionFile(reading: file)
        guard edition.channel == name else { throw EditionError(.badFile, "this is an edition of another channel") }
        return edition
    }
}

/// The part of a staged edition that an installation has.
enum EditionArm: String, Sendable {
    /// It gets the edition.
    case trial
    /// It is compared with those that get the edition, and keeps what it has.
    case control
    /// It is neither.
    case rest

    /// Returns the arm of an installation: the same one for the same salt. With a larger share, those that have the edition
    /// keep it.
    init(of installation: String, in audience: ChannelFile.Audience) {
        let digest = SHA256.digest(Array("\(audience.salt)/\(installation)".utf8))
        let place = Double(digest.prefix(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) / 0x1p32
        self = place < audience.share ? .trial : place >= 1 - audience.control ? .control : .rest
    }
}
