import Larder

/// The facts about the editions of an installation, for dumps.
struct EditionFacts: Hashable, Sendable {
    /// An edition that the channel offers.
    struct Offer: Hashable, Sendable {
        /// The number; nil if the edition was not fetched, and its file has another name than usual.
        var number: Int?
        var digest: String
        var arm: EditionArm
        var rejection: EditionState.Rejection?
        /// The plugin that the edition needs and the app does not have, in words.
        var need: String?
    }

    /// The revision of the channel; nil if there is no channel yet.
    var revision: Int?
    /// The time at which the channel was last reached.
    var reached: Timestamp?
    /// Whether the time until which the channel is valid has passed.
    var isOld = false
    /// The number of the edition in effect; nil for the app's own policies.
    var running: Int?
    /// Whether it has not proved itself yet.
    var isTrial = false
    /// The first edition that the channel offers to the ring; nil if there is none, or if an edition is pinned.
    var offer: Offer?
    /// The number of the edition that the app has chosen itself; nil if the channel decides.
    var pin: Int?
    /// The reason why the channel was not used at the last poll.
    var channelFailure: EditionError.Code?
    /// The reasons why editions could not be fetched at the last poll, by digest.
    var fetchFailures: [String: EditionError.Code] = [:]

    /// The facts as dumps have them.
    var dumped: [String: String] {
        var facts = ["running": running.map { "\($0)" } ?? "own"]
        facts["state"] = running == nil ? "own" : isTrial ? "trial" : "confirmed"
        facts["pin"] = pin.map { "\($0)" }
        facts["revision"] = revision.map { "\($0)" }
        facts["channel_failure"] = channelFailure?.rawValue ?? (isOld ? EditionError.Code.expired.rawValue : nil)
        guard let offer else { return facts }
        facts["offered"] = offer.number.map { "\($0)" } ?? String(offer.digest.prefix(19))
        facts["arm"] = offer.arm.rawValue
        if let rejection = offer.rejection {
            (facts["fate"], facts["why"]) = (rejection.fate.rawValue, rejection.why)
        } else if offer.need != nil {
            (facts["fate"], facts["why"]) = ("unfit", EditionError.Code.needs.rawValue)
        } else if let failure = fetchFailures[offer.digest] {
            (facts["fate"], facts["why"]) = ("unfetched", failure.rawValue)
        }
        return facts
    }
}
