import Larder

/// The facts about the editions of an installation, for dumps and `larder channel status`.
struct EditionFacts: Hashable, Sendable {
    /// The revision of the channel; nil if there is no channel yet.
    var revision: Int?
    /// Whether the time until which the channel is valid has passed.
    var isOld = false
    /// The number of the edition in effect; nil for the app's own policies.
    var running: Int?
    /// Whether it has not proved itself yet.
    var isTrial = false
    /// The number of the edition that the channel offers first to the ring; its digest if it was not fetched.
    var offered: String?
    var arm: EditionArm?
    /// The rejection of the offered edition, or of the last one that was refused.
    var fate: EditionState.Rejection?
    /// The reason why the channel was not used at the last poll, and why an edition could not be fetched.
    var channelFailure: EditionError.Code?
    var fetchFailure: EditionError.Code?
    /// The plugin that the offered edition needs and the app does not have, in words.
    var need: String?

    mutating func note(_ running: EditionMachine.Kept?, _ state: EditionState) {
        self.running = running?.edition.number
        isTrial = running != nil && state.trial?.digest == running?.digest
        revision = state.revision > 0 ? state.revision : nil
    }

    mutating func note(
        offered listed: ChannelFile.Listed, _ kept: EditionMachine.Kept?, arm: EditionArm,
        _ rejection: EditionState.Rejection?, need: String?
    ) {
        offered = kept.map { "\($0.edition.number)" } ?? String(listed.digest.prefix(19))
        (self.arm, fate, self.need) = (arm, rejection, need)
    }

    /// The facts as dumps have them.
    var dumped: [String: String] {
        var facts = ["running": running.map { "\($0)" } ?? "own"]
        facts["state"] = running == nil ? "own" : isTrial ? "trial" : "confirmed"
        facts["revision"] = revision.map { "\($0)" }
        facts["offered"] = offered
        facts["arm"] = arm?.rawValue
        let reason = need != nil ? EditionError.Code.needs : fetchFailure
        facts["fate"] = fate?.fate.rawValue ?? (need != nil ? "unfit" : fetchFailure.map { _ in "unfetched" })
        facts["why"] = fate?.why ?? reason?.rawValue
        facts["channel_failure"] = channelFailure?.rawValue ?? (isOld ? EditionError.Code.expired.rawValue : nil)
        return facts
    }
}
