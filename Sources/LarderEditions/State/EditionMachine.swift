import Larder

/// Decides which edition is in effect. It changes durable files and calls nothing else: no network, no pantry.
///
/// Every function blocks.
struct EditionMachine: Sendable {
    let kept: KeptEditions
    let fit: EditionFit

    /// The edition that is in effect in this process; nil for the app's own policies.
    private(set) var running: KeptEdition?
    /// The edition that ``supply(over:at:)`` returned last.
    private(set) var pending: KeptEdition?
    private(set) var facts = EditionFacts()
    /// The hash of the app's own policies.
    private(set) var own = ""
    /// The rejections by this process. They hold even if they cannot be saved.
    private(set) var rejections: [EditionState.Rejection] = []
    private var mark: (any StartMark)?
    private var hasLoaded = false
    /// Whether no further loads are needed to confirm the edition.
    private var hasEnoughLoads = false
    /// The events that ``supplied(_:)`` has not returned yet.
    private var events: [EditionEvent] = []

    var rules: EditionRules { kept.rules }

    init(
        _ rules: EditionRules, files: any EditionFiles, program: String? = nil, isActive: Bool = true,
        newInstallation: () -> String
    ) {
        kept = KeptEditions(rules: rules, files: files, newInstallation: newInstallation(), isActive: isActive)
        fit = EditionFit(rules.registry, program: program)
    }

    // MARK: Policies

    /// Returns the edition that is to be in effect; nil for the app's own policies.
    mutating func supply(over own: String, at now: Timestamp) -> EditionFile? {
        self.own = own
        giveUpCrashing()
        let choice = kept.update { [self] state -> EditionChoice? in
            guard let choice = try? self.choice(state, at: now) else { return nil }
            if choice.pin == nil || choice.edition != nil { state.makeCurrent(choice.edition?.digest) }
            if let program = fit.program, let digest = choice.edition?.digest {
                state.fitting = EditionState.Fitting(program: program, digest: digest)
            }
            return choice
        }.flatMap { $0 }
        recordFacts(choice, at: now)
        // With files that cannot be read now, such as on a locked phone, what is in effect stays in effect.
        if let choice { pending = choice.edition } else { pending = running }
        if kept.isActive, let edition = pending, edition.digest != running?.digest { beginStart(of: edition) }
        return pending?.edition
    }

    /// Makes a mark, by which the next process sees whether this one crashed. If that is not possible, only a confirmed
    /// edition takes effect: another one could crash at each start for ever.
    private mutating func beginStart(of edition: KeptEdition) {
        endStart()
        let number = kept.files.endedStarts().inARow(edition.digest) + 1
        mark = try? kept.files.beginStart(of: edition.digest, number: number)
        guard mark == nil else { return }
        if (try? kept.state())?.confirmed != edition.digest { pending = running }
    }

    /// Gives up editions under which the app ended twice before any load. The marks are numbered, so that processes which ended
    /// together count once, and marks count even if nothing can be saved.
    private mutating func giveUpCrashing() {
        guard kept.isActive else { return }
        let ended = kept.files.endedStarts()
        for digest in Set(ended.map(\.digest)).sorted() where ended.inARow(digest) >= EditionState.mostEndedStarts {
            let rejection = EditionState.Rejection.reverted(digest)
            if let state = try? kept.state(), state.rejections.contains(rejection) {
                for mark in ended where mark.digest == digest { kept.files.remove(mark.name) }
                continue
            }
            rejections.append(rejection)
            events.append(.reverted((try? kept.edition(digest))?.edition.number))
            kept.update { $0.reject(rejection) }
        }
    }

    /// Tells that the edition which ``supply(over:at:)`` returned last could not be tried.
    mutating func untried() {
        pending = nil
        endStart()
    }

    /// Tells that the edition which ``supply(over:at:)`` returned last is in effect, or why it is refused.
    ///
    /// - Returns: the events since the last call.
    mutating func supplied(_ refusal: EditionError?) -> [EditionEvent] {
        if let refusal { refuse(refusal) } else { takeEffect() }
        pending = nil
        defer { events = [] }
        return events
    }

    private mutating func takeEffect() {
        let former = running
        running = pending
        if running?.digest == former?.digest { return }
        (hasLoaded, hasEnoughLoads) = (false, false)
        if let former { events.append(.left(former.edition.number)) }
        recordState(try? kept.state())
        if let running, facts.isTrial { events.append(.trial(running.edition.number)) }
        if running == nil { endStart() }
    }

    private mutating func refuse(_ refusal: EditionError) {
        guard let pending else { return }
        endStart()
        let rejection = EditionState.Rejection(
            digest: pending.digest, fate: .refused, why: refusal.code.rawValue, own: own, plugins: fit.digest)
        rejections.append(rejection)
        kept.update { $0.reject(rejection) }
        if facts.offer?.digest == pending.digest { facts.offer?.rejection = rejection }
        events.append(.refused(pending.edition.number, refusal))
    }

    /// Ends the mark of the start: a load has ended, the process ends as it should or has run for long, or the edition is not in
    /// effect.
    mutating func endStart() {
        mark?.end()
        mark = nil
    }

    /// Whether another edition than the running one is to be in effect now.
    mutating func isOutdated(at now: Timestamp) -> Bool {
        guard let state = try? kept.state(), let choice = try? self.choice(state, at: now) else { return false }
        recordFacts(choice, at: now)
        return choice.edition?.digest != running?.digest
    }

    // MARK: Loads

    /// Tells that loads have ended, `count` of them with an answer. The first one ends the mark of the start: the app did not
    /// crash, though its service may be down. The last answers of a trial confirm it.
    ///
    /// - Returns: the number of the edition that is confirmed by it; nil if none is.
    mutating func answered(_ count: Int) -> Int? {
        guard kept.isActive, let running else { return nil }
        if !hasLoaded { endStart() }
        hasLoaded = true
        // Also those of other processes: the edition answers.
        for mark in kept.files.endedStarts() where mark.digest == running.digest { kept.files.remove(mark.name) }
        return addToTrial(of: running, loads: count)
    }

    /// Whether further loads are of interest.
    var wantsLoads: Bool {
        guard kept.isActive, running != nil else { return false }
        return !hasLoaded || facts.isTrial && !hasEnoughLoads
    }

    /// Adds to the trial, and confirms the edition if it has proved itself.
    private mutating func addToTrial(of running: KeptEdition, loads: Int = 0, isReached: Bool = false) -> Int? {
        let least = rules.confirmingLoads
        let result = kept.update { state -> (EditionState, isConfirmed: Bool) in
            guard var trial = state.trial, trial.digest == running.digest else { return (state, false) }
            trial.loads = min(trial.loads + loads, least)
            trial.hasReachedChannel = trial.hasReachedChannel || isReached
            state.trial = trial
            guard trial.loads >= least, trial.hasReachedChannel else { return (state, false) }
            (state.confirmed, state.trial) = (trial.digest, nil)
            return (state, true)
        }
        guard let (state, isConfirmed) = result else { return nil }
        hasEnoughLoads = state.trial.map { $0.loads >= least } ?? true
        recordState(state)
        return isConfirmed ? running.edition.number : nil
    }

    // MARK: The channel

    /// The etag of the channel that is kept; nil if none is, or if its bytes are not those that the etag came with.
    var etag: String? {
        guard let channel = try? kept.channel(), let state = try? kept.state(), state.channel == channel.digest else {
            return nil
        }
        return state.etag
    }

    /// The time at which any process last reached the channel; nil if none did.
    var lastReached: Timestamp? { (try? kept.state())?.reached }

    /// Tells that the channel was reached: a new one was accepted, or the kept one is current.
    ///
    /// - Returns: the number of the edition that is confirmed by it; nil if none is.
    mutating func reached(at now: Timestamp) -> Int? {
        (facts.channelFailure, facts.fetchFailures, facts.reached) = (nil, [:], now)
        kept.update { $0.reached = now }
        return running.flatMap { addToTrial(of: $0, isReached: true) }
    }

    /// Tells that the channel was asked for in vain.
    mutating func failed(_ error: EditionError) { facts.channelFailure = error.code }

    /// Tells that an edition could not be fetched.
    mutating func failedToFetch(_ listed: ChannelFile.Listed, _ error: EditionError) {
        facts.fetchFailures[listed.digest] = error.code
    }

    /// The edition that the channel wants here and that is not kept; nil if there is none.
    ///
    /// - Parameter failed: the digests of editions that could not be fetched.
    mutating func missing(at now: Timestamp, except failed: Set<String> = []) -> ChannelFile.Listed? {
        guard let state = try? kept.state(), let choice = try? self.choice(state, at: now, without: failed) else {
            return nil
        }
        recordFacts(choice, at: now)
        if let digest = running?.digest, choice.edition?.digest == digest, !kept.has(digest), !failed.contains(digest) {
            // Somebody has deleted its file. The next start needs it.
            return choice.channel?.editions.first { $0.digest == digest } ?? choice.missing
        }
        return choice.missing
    }

    /// Chooses an edition by its number, or follows the channel again.
    ///
    /// - Throws: ``EditionError`` with the code `needs` if no edition of the number on this device can be used; the error of
    ///   the disk.
    /// - Returns: the state before.
    func pin(_ number: Int?) throws -> EditionState {
        if rules.pin != nil { throw EditionError(.needs, "the setting 'pin' has chosen an edition already") }
        let former = try kept.state()
        if let number, number != 0, try pinned(number, former) == nil {
            throw EditionError(.needs, "no edition \(number) that can be used is on this device")
        }
        try kept.change { $0.pin = number }
        return former
    }

    /// Takes back a choice that could not be put in effect.
    func unpin(to former: EditionState) throws {
        try kept.change { ($0.pin, $0.confirmed, $0.trial) = (former.pin, former.confirmed, former.trial) }
    }

    // MARK: Facts

    private mutating func recordFacts(_ choice: EditionChoice?, at now: Timestamp) {
        recordState(try? kept.state())
        guard let choice else { return }
        (facts.offer, facts.pin) = (choice.offer, choice.pin)
        if let channel = choice.channel { (facts.revision, facts.isOld) = (channel.revision, channel.until <= now) }
    }

    private mutating func recordState(_ state: EditionState?) {
        facts.running = running?.edition.number
        guard let state else {
            facts.channelFailure = .disk
            return
        }
        facts.isTrial = running != nil && state.confirmed != running?.digest
        facts.revision = state.revision > 0 ? state.revision : nil
        facts.reached = state.reached
    }
}
