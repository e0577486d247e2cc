import Larder
import LarderEditions
import LarderReports
import LarderSystem

/// A channel's file that is changed.
struct ChannelEditing {
    let path: String
    let call: Subcommand.Call
    let keys: [SigningKey]
    let known: KnownKeys
    var channel: ChannelFile

    /// The public halves of the keys that sign the change.
    var own: [PublicKey] { keys.map(\.publicKey) }

    /// Begins with the file of a channel.
    init(_ path: String, call: Subcommand.Call) throws {
        let keys = try call.signingKeys()
        let (file, channel) = try call.channel(at: path)
        let known = try call.knownKeys(of: channel.name)
        _ = try known.signers(ofChannel: file, at: path, own: keys.map(\.publicKey))
        try self.init(path, channel, keys: keys, known: known, call: call)
    }

    /// Begins with a new channel.
    init(_ path: String, new name: String, call: Subcommand.Call) throws {
        let channel = ChannelFile(name: name, revision: 0, until: call.terminal.now(), editions: [])
        try self.init(
            path, channel, keys: try call.signingKeys(), known: try call.knownKeys(of: name), call: call)
    }

    private init(
        _ path: String, _ channel: ChannelFile, keys: [SigningKey], known: KnownKeys, call: Subcommand.Call
    ) throws {
        (self.path, self.channel, self.keys, self.known, self.call) = (path, channel, keys, known, call)
        guard known.all.isEmpty || own.contains(where: known.all.contains) else {
            let ids = own.map(\.id).joined(separator: ", ")
            throw CommandFailure("apps do not know the key of --key (\(ids)), so they would refuse the channel")
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
        var next = channel
        next.revision += 1
        next.until = now + (try call.validity())
        var file = try next.file()
        for key in keys { try file.sign(with: key) }
        try call.write(file.bytes, to: path)
        // Times are written to the second.
        let read = try ChannelFile(reading: file)
        call.print(
            ["wrote \(path): revision \(read.revision), valid until \(read.until.spelled)"]
                + (lines + ["upload \(Disk.split(path).name)"]).map { "  " + $0 },
            json: read.json(at: path, signers: file.keyIDs, isVerified: !known.all.isEmpty, now: now))
    }

    /// The numbers of the editions whose files lie next to the channel, by digest.
    var numbers: [String: Int] { channel.numbers(besides: path) }
}

extension Command.Option {
    static let until = Command.Option(
        "until", value: "TIME", help: "How long the revision is valid, from 1m to 3650d (default: 30d)")
    static let share = Command.Option("share", value: "SHARE", help: "The share of installations, such as 5%")
}

extension Subcommand.Call {
    /// How long the next revision is valid.
    fileprivate func validity() throws(UsageError) -> Duration {
        guard let text = arguments.value(of: Command.Option.until.name) else { return .seconds(30 * 86_400) }
        guard let length = Duration(spelled: text), (.seconds(60) ... .seconds(3_650 * 86_400)).contains(length) else {
            throw UsageError(message: "--until takes a time from 1m to 3650d, such as 30d")
        }
        if length < .seconds(86_400) {
            terminal.note(
                "warning: apps ask every 15 minutes, and many only days later; those that ask after \(length.spelled) "
                    + "change nothing")
        }
        return length
    }

    /// The share that an option gives.
    func share(of option: String) throws(UsageError) -> Double? {
        guard let text = arguments.value(of: option) else { return nil }
        guard let share = Double(share: text) else {
            throw UsageError(message: "--\(option) takes a share such as 5% or 0.05")
        }
        return share
    }
}
