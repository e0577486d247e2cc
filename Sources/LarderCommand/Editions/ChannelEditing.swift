import Larder
import LarderEditions
import LarderReports
import LarderSystem

/// A channel's file that is changed.
struct ChannelEditing {
    let path: String
    let call: Subcommand.Call
    let keys: [SigningKey]
    var channel: ChannelFile

    /// Reads the file of a channel; if it is missing, begins a channel of that name.
    ///
    /// - Parameter name: the name of a channel that may be new; nil if the file must be there.
    init(_ path: String, orNew name: String? = nil, call: Subcommand.Call) throws {
        (self.path, self.call, keys) = (path, call, try call.signingKeys())
        let asked = try call.publicKeys()
        guard asked.isEmpty || keys.contains(where: { asked.contains($0.publicKey) }) else {
            let ids = keys.map(\.publicKey.id).joined(separator: ", ")
            throw CommandFailure("no key of --keys is that of --key (\(ids)), so apps would refuse the channel")
        }
        if let name, Disk.item(path) == nil {
            channel = ChannelFile(name: name, revision: 0, until: call.terminal.now(), editions: [])
            return
        }
        let file = try call.signedFile(.channel, at: path)
        do {
            do {
                _ = try file.signers(among: asked + keys.map(\.publicKey))
            } catch let error as EditionError where error.code == .unknownKey && asked.isEmpty {
                // The former revision may be signed by another key, such as a steer key.
                call.terminal.note(
                    "warning: \(path) was signed by another key (\(file.keyIDs.joined(separator: ", "))); with --keys and "
                        + "the keys in the app, it is checked that apps accept this one")
            }
            channel = try ChannelFile(reading: file)
        } catch let error as EditionError {
            throw CommandFailure("\(path): \(error)")
        }
    }

    /// Leads installations away from the emergency edition.
    ///
    /// - Returns: a line that says so, if they were led there.
    mutating func endEmergency() -> [String] {
        defer { channel.isEmergency = false }
        return channel.isEmergency ? ["the emergency edition is not used any more"] : []
    }

    /// Writes the next revision and tells it. Readers see either the former file or the new one.
    func write(_ lines: [String]) throws {
        let now = call.terminal.now()
        let length = try call.arguments.duration(of: Command.Option.until.name) ?? .seconds(30 * 86_400)
        guard (.seconds(60) ... .seconds(3_650 * 86_400)).contains(length) else {
            throw UsageError(message: "--until takes a time from 1m to 3650d, such as 30d")
        }
        var next = channel
        next.revision += 1
        next.until = now + length
        var file = try next.file()
        for key in keys { try file.sign(with: key) }
        try Disk.replace(path, with: [file.bytes], isPrivate: false)
        // Times are written to the second.
        let read = try ChannelFile(reading: file)
        call.print(
            ["wrote \(path): revision \(read.revision), valid until \(read.until.spelled)"] + lines.map { "  " + $0 },
            json: read.json(numbers: numbers, at: now))
    }

    /// The numbers of the editions whose files lie next to the channel, by digest.
    var numbers: [String: Int] { channel.numbers(besides: path) }
}

extension Command.Option {
    static let until = Command.Option(
        "until", value: "TIME", help: "How long the revision is valid, such as 30d (default: 30d)")
    static let share = Command.Option("share", value: "SHARE", help: "The share of installations, such as 5%")
}

extension Subcommand.Call {
    /// The share that an option gives.
    func share(of option: String) throws(UsageError) -> Double? {
        guard let text = arguments.value(of: option) else { return nil }
        guard let share = Double(share: text) else {
            throw UsageError(message: "--\(option) takes a share such as 5% or 0.05")
        }
        return share
    }
}

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
    func json(numbers: [String: Int], at now: Timestamp, signers: [String]? = nil) -> JSON {
        .present([
            "name": .string(name), "revision": .int(revision), "until": .number(until.inSeconds),
            "isExpired": .bool(until <= now), "isEmergency": .bool(isEmergency),
            "signers": signers.map { .list($0.map(JSON.string)) },
            "editions": .list(
                editions.map { listed in
                    .present([
                        "number": numbers[listed.digest].map(JSON.int), "digest": .string(listed.digest),
                        "at": .string(listed.at), "rings": listed.to.rings.map { .list($0.map(JSON.string)) },
                        "share": .number(listed.to.share), "control": .number(listed.to.control),
                        "salt": .string(listed.to.salt), "guard": listed.guard,
                    ])
                }),
        ])
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
