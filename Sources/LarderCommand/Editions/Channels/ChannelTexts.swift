import Larder
import LarderEditions
import LarderReports
import LarderSystem

extension ChannelFile {
    /// The numbers of the editions whose files lie next to the channel's file, by digest.
    func numbers(besides path: String) -> [String: Int] {
        let folder = Disk.split(path).folder
        var numbers: [String: Int] = [:]
        for listed in editions {
            guard let bytes = try? Disk.read(folder + "/" + listed.at, limit: SignedFile.mostBytes),
                let file = try? SignedFile(.edition, reading: bytes), file.digest == listed.digest
            else { continue }
            numbers[listed.digest] = (try? EditionFile(reading: file))?.number
        }
        return numbers
    }

    /// The channel for other programs.
    ///
    /// - Parameters:
    ///   - path: its file.
    ///   - signers: the short names of the keys that signed it.
    ///   - isVerified: whether apps know these keys.
    func json(at path: String, signers: [String], isVerified: Bool, now: Timestamp) -> JSON {
        let numbers = numbers(besides: path)
        return [
            "file": .string(path), "name": .string(name), "revision": .int(revision),
            "until": .number(until.inSeconds), "isExpired": .bool(until <= now), "isEmergency": .bool(isEmergency),
            "signers": .list(signers.map(JSON.string)), "verified": .bool(isVerified),
            "editions": .list(
                editions.map { listed in
                    .present([
                        "number": numbers[listed.digest].map(JSON.int), "digest": .string(listed.digest),
                        "at": .string(listed.at), "rings": listed.to.rings.map { .list($0.map(JSON.string)) },
                        "share": .number(listed.to.share), "control": .number(listed.to.control),
                        "halted": .bool(listed.to.share == 0), "salt": .string(listed.to.salt),
                        "guard": listed.guard,
                    ])
                }),
        ]
    }
}

extension ChannelFile.Listed {
    /// `edition 42 (shop-42.edition)`, or the file alone if the number is not known.
    func title(_ numbers: [String: Int]) -> String {
        numbers[digest].map { "edition \($0) (\(at))" } ?? "edition \(at)"
    }
}

extension ChannelFile.Audience {
    /// `5.0 % of stable, compared with 5.0 %`.
    var inWords: String {
        let rings = rings.map { " of \($0.joined(separator: ", "))" } ?? " of all installations"
        return share.percent + rings + (control > 0 ? ", compared with \(control.percent)" : "")
    }
}

extension Timestamp {
    /// The seconds since 1970.
    fileprivate var inSeconds: Double { Double(nanoseconds) / 1e9 }
}
