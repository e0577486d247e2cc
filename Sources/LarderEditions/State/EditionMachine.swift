import Larder

/// Decides which edition is in effect. It changes durable files and calls nothing else: no network, no pantry.
///
/// Every function blocks. A process may be killed between any two changes of the files, and several processes may use the
/// same files.
struct EditionMachine: Sendable {
    /// An edition that is kept on this installation.
    struct Kept: Sendable {
        var digest: String
        var edition: EditionFile
    }

    let rules: EditionRules
    let files: any EditionFiles
    /// Returns the digits of a new installation.
    let newInstallation: @Sendable () -> String
    /// Whether this process may begin trials. A tool that only looks does not.
    var isActive = true

    /// The edition that is in effect in this process; nil for the app's own policies.
    private(set) var running: Kept?
    /// The edition that ``supply(over:at:)`` returned last.
    private(set) var pending: Kept?
    private(set) var facts = EditionFacts()
    private var mark: (any StartMark)?
    private var own: String?
    /// The answered loads under the edition that were not added to the trial yet.
    private var uncounted = 0
    private var hasAnswered = false
    /// Whether no further loads are needed to confirm the edition.
    private var hasEnough = false
    /// The events that ``supplied(_:at:)`` has not returned yet.
    private var events: [EditionEvent] = []
    /// The unmet need of each edition that was looked at, nil for none. To find it takes longer than all else.
    private var needs: [String: String?] = [:]

    init(
        _ rules: EditionRules, files: any EditionFiles, isActive: Bool = true,
        newInstallation: @escaping @Sendable () -> String
    ) {
        (self.rules, self.files, self.isActive) = (rules, files, isActive)
        self.newInstallation = newInstallation
    }

    // MARK: Policies

    /// Returns the edition that is to be in effect; nil for the app's own policies.
    mutating func supply(over own: String, at now: Timestamp) -> EditionFile? {
        self.own = own
        var marks: [String] = []
        pending = update { state -> Kept? in
            // A process that only looks leaves the marks to those that count them.
            for mark in isActive ? files.endedStarts() : [] {
                marks.append(mark.name)
                if state.countEndedStart(of: mark.digest, mark: mark.name) {
                    events.append(.reverted(kept(mark.digest)?.edition.number))
                }
            }
            let choice = choice(state, at: now)
            if isActive { state.take(choice.kept?.digest) }
            return choice.kept
        } saved: {
            // Marks that could not be counted in the file count again at the next start.
            for mark in marks { files.remove(mark) }
        }
        let isNew = pending.map { $0.digest != running?.digest } ?? false
        if isActive, isNew, let pending { begin(pending.digest) }
        return pending?.edition
    }

    private mutating func begin(_ digest: String) {
        mark?.end()
        mark = try? files.beginStart(of: digest)
    }

    /// Notes that the edition which ``supply(over:at:)`` returned last could not be tried.
    mutating func untried() {
        pending = nil
        mark?.end()
        mark = nil
    }

    /// Notes that the edition which ``supply(over:at:)`` returned last is in effect, or why it is refused.
    ///
    /// - Returns: the events since the last call.
    mutating func supplied(_ refusal: EditionError?, at now: Timestamp) -> [EditionEvent] {
        if let event = refusal.map({ refuse($0) }) ?? takeEffect() { events.append(event) }
        pending = nil
        defer { events = [] }
        return events
    }

    /// - Returns: the event; nil if nothing has changed.
    private mutating func takeEffect() -> EditionEvent? {
        let former = running
        running = pending
        if running?.digest == former?.digest { return nil }
        (hasAnswered, hasEnough, uncounted) = (false, false, 0)
        let state = update { $0 }
        facts.note(running, state)
        if let former { events.append(.left(former.edition.number)) }
        guard let running else {
            mark?.end()
            mark = nil
            return nil
        }
        return state.trial?.digest == running.digest ? .trial(running.edition.number) : nil
    }

    private mutating func refuse(_ refusal: EditionError) -> EditionEvent? {
        guard let pending else { return nil }
        mark?.end()
        mark = nil
        let rejection = EditionState.Rejection(
            digest: pending.digest, fate: .refused, why: refusal.code.rawValue, own: own)
        if isActive { update { $0.reject(rejection) } }
        facts.fate = rejection
        return .refused(pending.edition.number, refusal)
    }

    /// Whether another edition than the running one is to be in effect now.
    mutating func isOutdated(at now: Timestamp) -> Bool {
        let state = update { $0 }
        return choice(state, at: now).kept?.digest != running?.digest
    }

    // MARK: Loads

    /// Notes that loads were answered. The first one ends the mark of the start; the last ones of a trial confirm it.
    ///
    /// - Returns: the number of the edition that is confirmed by it; nil if none is.
    mutating func answered(_ count: Int) -> Int? {
        guard isActive, let running else { return nil }
        if !hasAnswered {
            hasAnswered = true
            mark?.end()
            mark = nil
            update { $0.endedStarts[running.digest] = nil }
        }
        uncounted += count
        return settle(running)
    }

    /// Whether further loads are of interest.
    var wantsLoads: Bool {
        guard isActive, running != nil else { return false }
        return !hasAnswered || facts.isTrial && !hasEnough
    }

    /// Ends the use of the files, because the process ends as it should.
    mutating func close() {
        mark?.end()
        mark = nil
        if let running, uncounted > 0 { _ = settle(running) }
    }

    /// Adds the loads to the trial, and confirms it if it has proved itself.
    private mutating func settle(_ running: Kept) -> Int? {
        let (loads, least, waitsForFetch) = (uncounted, rules.confirmingLoads, rules.confirmsOnFetch)
        let (state, isConfirmed) = update { state -> (EditionState, Bool) in
            guard var trial = state.trial, trial.digest == running.digest else { return (state, false) }
            trial.loads = min(trial.loads + loads, least)
            state.trial = trial
            guard trial.loads >= least, trial.hasReachedChannel || !waitsForFetch else { return (state, false) }
            (state.confirmed, state.trial) = (trial.digest, nil)
            return (state, true)
        }
        uncounted = 0
        hasEnough = state.trial.map { $0.loads >= least } ?? true
        facts.note(running, state)
        return isConfirmed ? running.edition.number : nil
    }

    // MARK: The channel

    /// The etag of the channel that is kept; nil if none is, or if its bytes are not those that the etag came with.
    var etag: String? {
        guard let kept = keptChannel(), let state = read(), state.channel == kept.digest else { return nil }
        return state.etag
    }

    /// The time at which any process last asked for the channel; nil if none did.
    var polled: Timestamp? { read()?.polled }

    /// Keeps a channel that has arrived, if it is genuine and newer.
    ///
    /// - Throws: ``EditionError``; the error of the disk. The former channel then stays.
    mutating func receive(channel bytes: [UInt8], etag: String?, at now: Timestamp) throws {
        let (channel, digest) = try rules.channel(bytes)
        guard channel.until > now else {
            throw EditionError(.expired, "revision \(channel.revision) of the channel is no longer valid")
        }
        let known = keptChannel()?.channel.revision ?? 0
        try updateOrThrow { state in
            let revision = max(state.revision, known)
            guard channel.revision >= revision else {
                throw EditionError(
                    .oldRevision, "revision \(channel.revision) of the channel is older than \(revision)")
            }
            if channel.revision == state.revision, let kept = state.channel, kept != digest {
                throw EditionError(.oldRevision, "there are two channels of the revision \(revision)")
            }
            try files.write(Self.channelName, bytes)
            (state.revision, state.channel, state.etag) = (channel.revision, digest, etag)
        }
    }

    /// Notes that the channel was reached: a new one was accepted, or the kept one is current.
    ///
    /// - Returns: the number of the edition that is confirmed by it; nil if none is.
    mutating func reached(at now: Timestamp) -> Int? {
        (facts.channelFailure, facts.fetchFailure) = (nil, nil)
        update { state in
            state.polled = now
            if let running, state.trial?.digest == running.digest { state.trial?.hasReachedChannel = true }
        }
        return running.flatMap { settle($0) }
    }

    /// Notes that the channel was asked for in vain.
    mutating func failed(_ error: EditionError, at now: Timestamp) {
        facts.channelFailure = error.code
        update { $0.polled = now }
    }

    /// Notes that an edition could not be fetched.
    mutating func failedToFetch(_ error: EditionError) { facts.fetchFailure = error.code }

    /// The edition that the channel wants here and that is not kept; nil if there is none.
    ///
    /// - Parameter failed: the digests of editions that could not be fetched.
    mutating func missing(at now: Timestamp, except failed: Set<String> = []) -> ChannelFile.Listed? {
        choice(update { $0 }, at: now, without: failed).missing
    }

    /// Keeps an edition that has arrived, if it is the genuine one. The channel must still list it.
    ///
    /// - Throws: ``EditionError``; the error of the disk.
    mutating func receive(edition bytes: [UInt8], for listed: ChannelFile.Listed) throws -> EditionFile {
        let edition = try rules.edition(bytes, digest: listed.digest)
        try updateOrThrow { state in
            removeUnused(state)
            try files.write(Self.name(of: listed.digest), bytes)
        }
        return edition
    }

    /// Chooses an edition by its number, or follows the channel again.
    ///
    /// - Throws: ``EditionError`` with the code `needs` if the edition is not on this installation.
    mutating func pin(_ number: Int?) throws {
        if let number, number != 0, !kept.contains(where: { $0.edition.number == number }) {
            throw EditionError(.needs, "edition \(number) is not on this device")
        }
        try updateOrThrow { $0.pin = number }
    }

    // MARK: Choosing

    private struct Choice {
        var kept: Kept?
        /// The edition to fetch.
        var missing: ChannelFile.Listed?
    }

    /// Returns the edition that is to be in effect: the first one of the channel that is for this installation.
    private mutating func choice(
        _ state: EditionState, at now: Timestamp, without failed: Set<String> = []
    ) -> Choice {
        facts.note(running, state)
        if let pin = rules.pin ?? state.pin {
            if pin == 0 { return Choice() }
            if let kept = kept.first(where: { $0.edition.number == pin }) { return Choice(kept: kept) }
        }
        guard let (channel, _) = keptChannel() else { return Choice(kept: state.current.flatMap(kept)) }
        facts.revision = channel.revision
        facts.isOld = channel.until <= now
        // An old channel changes nothing.
        if facts.isOld { return Choice(kept: state.current.flatMap(kept)) }
        var choice = Choice()
        var isFirst = true
        for listed in channel.editions where listed.to.rings?.contains(rules.ring) ?? true {
            let arm = EditionArm(of: state.installation, in: listed.to)
            let kept = arm == .trial || isFirst ? kept(listed.digest) : nil
            var need: String?
            if let kept { need = self.need(of: kept) }
            let rejection = state.rejection(of: listed.digest, over: own)
            if isFirst { facts.note(offered: listed, kept, arm: arm, rejection, need: need) }
            isFirst = false
            guard arm == .trial, rejection == nil else { continue }
            if let kept, need == nil {
                choice.kept = kept
                return choice
            }
            if kept == nil, choice.missing == nil, !failed.contains(listed.digest) { choice.missing = listed }
        }
        return choice
    }

    private mutating func need(of kept: Kept) -> String? {
        if let known = needs[kept.digest] { return known }
        let need = kept.edition.unmetNeed(in: rules.registry)
        needs[kept.digest] = .some(need)
        return need
    }

    // MARK: Files

    static let channelName = "channel"
    static let stateName = "state.json"
    private static let prefix = "edition-"

    private static func name(of digest: String) -> String { prefix + digest.suffix(64) }

    /// Returns the channel that is kept, if it is genuine.
    private func keptChannel() -> (channel: ChannelFile, digest: String)? {
        files.read(Self.channelName).flatMap { try? rules.channel($0) }
    }

    /// Returns a kept edition, if its bytes are genuine.
    private func kept(_ digest: String) -> Kept? {
        guard let bytes = files.read(Self.name(of: digest)),
            let edition = try? rules.edition(bytes, digest: digest)
        else { return nil }
        return Kept(digest: digest, edition: edition)
    }

    /// All kept editions.
    private var kept: [Kept] {
        files.names.filter { $0.hasPrefix(Self.prefix) }.compactMap {
            kept("sha256:" + $0.dropFirst(Self.prefix.count))
        }
    }

    /// Removes the editions that are neither listed nor in effect.
    private func removeUnused(_ state: EditionState) {
        var used = Set((keptChannel()?.channel.editions ?? []).map { Self.name(of: $0.digest) })
        used.formUnion([state.confirmed, state.trial?.digest].compactMap { $0 }.map(Self.name))
        for name in files.names where name.hasPrefix(Self.prefix) && !used.contains(name) { files.remove(name) }
    }

    private func read() -> EditionState? { files.read(Self.stateName).flatMap { EditionState(reading: $0) } }

    /// Changes the state. If it cannot be saved, the change holds for what `body` returns alone.
    ///
    /// - Parameter saved: called when the state is saved, while no other process uses the files.
    @discardableResult
    private func update<Result>(
        _ body: (inout EditionState) -> Result, saved: () -> Void = {}
    ) -> Result {
        var result: Result?
        try? updateOrThrow({ result = body(&$0) }, saved: saved)
        if let result { return result }
        var state = read() ?? EditionState(installation: newInstallation())
        return body(&state)
    }

    private func updateOrThrow(_ body: (inout EditionState) throws -> Void, saved isSaved: () -> Void = {}) throws {
        try files.locked {
            let saved = read()
            var state = saved ?? EditionState(installation: newInstallation())
            if saved == nil, let channel = keptChannel() {
                (state.revision, state.channel) = (channel.channel.revision, channel.digest)
            }
            state.follow(keys: rules.keyMark)
            try body(&state)
            guard isActive else { return }
            if state != saved { try files.write(Self.stateName, Array(state.text.utf8)) }
            isSaved()
        }
    }
}
