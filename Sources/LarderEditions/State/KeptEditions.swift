import Larder
import LarderSystem

/// An edition on this installation.
struct KeptEdition: Sendable {
    var digest: String
    var edition: EditionFile
}

/// The channel, the editions and the state that an installation keeps. It returns no bytes that are not genuine.
///
/// Its functions block. A process may be killed between any two changes of the files, and several processes may use the
/// same files.
struct KeptEditions: Sendable {
    /// The longest time that a start waits for another process.
    static let shortWait = Duration.milliseconds(50)
    private static let longWait = Duration.seconds(5)
    /// The number of editions of the channel that are kept beside those in use, to go back to.
    private static let mostUnused = 4
    static let channelName = "channel"
    static let stateName = "state.json"
    private static let prefix = "edition-"

    let rules: EditionRules
    let files: any EditionFiles
    /// The digits of a new installation.
    let newInstallation: String
    /// Whether this process may change files. A tool that only looks does not.
    let isActive: Bool

    // MARK: The channel and the editions

    /// Returns the channel, if it is genuine.
    func channel() throws -> (channel: ChannelFile, digest: String)? {
        try files.read(Self.channelName).flatMap { try? rules.channel($0) }
    }

    /// Returns an edition, if it is genuine. It may be the one that the app carries.
    ///
    /// - Throws: the error of the disk, if the file is there and cannot be read now.
    func edition(_ digest: String) throws -> KeptEdition? {
        if let emergency = rules.emergency, emergency.digest == digest { return emergency }
        return try files.read(Self.name(of: digest)).flatMap { try? rules.edition($0, digest: digest) }.map {
            KeptEdition(digest: digest, edition: $0)
        }
    }

    /// Whether the file of an edition is there.
    func has(_ digest: String) -> Bool {
        rules.emergency?.digest == digest || files.names.contains(Self.name(of: digest))
    }

    /// All editions with a number.
    func editions(numbered number: Int) throws -> [KeptEdition] {
        try files.names.filter { $0.hasPrefix(Self.prefix) }.sorted().compactMap {
            try edition("sha256:" + $0.dropFirst(Self.prefix.count))
        }.filter { $0.edition.number == number }
    }

    /// Keeps a channel that has arrived, if it is genuine and newer.
    ///
    /// - Throws: ``EditionError``, and the former channel then stays; the error of the disk.
    func receive(channel bytes: [UInt8], etag: String?, at now: Timestamp) throws {
        let (channel, digest) = try rules.channel(bytes)
        guard channel.until > now else { throw expired(channel) }
        try change { state in
            let revision = max(state.revision, try self.channel()?.channel.revision ?? 0)
            guard channel.revision >= revision else {
                throw EditionError(
                    .oldRevision, "revision \(channel.revision) of the channel is older than \(revision)")
            }
            if channel.revision == state.revision, let kept = state.channel, kept != digest {
                throw EditionError(.oldRevision, "there are two channels of the revision \(revision)")
            }
            if try self.channel()?.digest != digest { try files.write(Self.channelName, bytes) }
            (state.revision, state.channel, state.etag) = (channel.revision, digest, etag)
        }
    }

    /// Checks the channel after the server said that it is unchanged.
    ///
    /// - Throws: ``EditionError`` with the code `expired`; the error of the disk.
    func checkIsValid(at now: Timestamp) throws {
        if let (channel, _) = try channel(), channel.until <= now { throw expired(channel) }
    }

    private func expired(_ channel: ChannelFile) -> EditionError {
        EditionError(.expired, "revision \(channel.revision) of the channel is no longer valid")
    }

    /// Keeps an edition that has arrived, if it is the genuine one, and removes those that are no longer of use.
    ///
    /// - Throws: ``EditionError``; the error of the disk.
    func receive(edition bytes: [UInt8], for listed: ChannelFile.Listed) throws -> EditionFile {
        let edition = try rules.edition(bytes, digest: listed.digest)
        try change { state in
            removeUnused(but: state)
            try files.write(Self.name(of: listed.digest), bytes)
        }
        return edition
    }

    /// Removes what a killed process left, and all editions but those in use and some that the channel lists.
    private func removeUnused(but state: EditionState) {
        let names = files.names
        let isPinned = (rules.pin ?? state.pin) != nil
        let listed = ((try? channel())??.channel.editions ?? []).map { Self.name(of: $0.digest) }
        var used = Set([state.confirmed, state.trial?.digest].compactMap { $0 }.map(Self.name))
        used.formUnion(listed.filter { names.contains($0) && !used.contains($0) }.prefix(Self.mostUnused))
        for name in names {
            let isUnused = name.hasPrefix(Self.prefix) && !used.contains(name) && !isPinned
            if isUnused || name.hasSuffix(EditionFolder.draft) { files.remove(name) }
        }
        for mark in files.endedStarts() where !used.contains(Self.name(of: mark.digest)) { files.remove(mark.name) }
    }

    private static func name(of digest: String) -> String { prefix + digest.suffix(64) }

    // MARK: The state

    /// Returns the state; a new one if there is none or its file is damaged.
    ///
    /// - Throws: the error of the disk, if the files cannot be read now.
    func state() throws -> EditionState { try state(saved()) }

    private func state(_ saved: EditionState?) throws -> EditionState {
        var state = saved ?? EditionState(installation: newInstallation)
        let keys = Set((rules.release + rules.steer).map(\.id))
        if saved == nil || !state.keys.isSubset(of: keys) {
            // A thief of a key that the app no longer knows could have published the highest revision there is.
            let kept = try channel()
            if kept?.digest != state.channel {
                (state.revision, state.channel, state.etag) = (kept?.channel.revision ?? 0, kept?.digest, nil)
            }
        }
        state.keys = keys
        return state
    }

    private func saved() throws -> EditionState? {
        try files.read(Self.stateName).flatMap { EditionState(reading: $0) }
    }

    /// Changes the state.
    ///
    /// - Throws: the error of `body`, and that of the disk. The former state then stays.
    func change(
        within limit: Duration = longWait, _ body: (inout EditionState) throws -> Void
    ) throws {
        try files.locked(within: limit) {
            let saved = try saved()
            var state = try state(saved)
            try body(&state)
            if isActive, state != saved { try files.write(Self.stateName, Array(state.text.utf8)) }
        }
    }

    /// Changes the state. If it cannot be saved, the change holds for what `body` returns alone. If nothing changes, this waits
    /// for no other process.
    ///
    /// - Parameter body: the change. It may be called twice, the second time with what other processes have changed.
    /// - Returns: nil if the state cannot be read now.
    @discardableResult
    func update<Result>(_ body: (inout EditionState) -> Result) -> Result? {
        guard var state = try? state() else { return nil }
        let former = state
        var result = body(&state)
        if !isActive || state == former { return result }
        try? change(within: Self.shortWait) { result = body(&$0) }
        return result
    }
}
