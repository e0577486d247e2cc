import LarderSystem
import Larder

/// The installations that follow one channel, by the editions of their policies.
struct ChannelFigures: Sendable {
    /// One edition, or the policies that came with the app.
    struct Edition: Sendable {
        /// The number; the beginning of the digest if it was not fetched; ``own`` for the app's own policies.
        var name: String
        /// The number of installations that run it, that run it on trial, and on which it has proved itself.
        var installations = 0
        var trial = 0
        var confirmed = 0
        /// The number of installations that are offered it before all others, and their arms.
        var offered = 0
        var arms: [String: Int] = [:]
        /// The reasons why it is not used: `refused: reach`.
        var fates: [String: Int] = [:]
        /// The loads under other policies compared with those under its own, by resource.
        var comparisons: [EditionComparison] = []

        /// The name of the policies that came with the app.
        static let own = "own"

        /// `edition 42`, or `own policies`.
        var title: String { name == Self.own ? "own policies" : Int(name) == nil ? name : "edition \(name)" }
    }

    var name: String
    var installations = 0
    /// The oldest and the newest revision of the channel that an installation knows, each with the number of installations.
    private(set) var oldest: (revision: Int, installations: Int)?
    private(set) var newest: (revision: Int, installations: Int)?
    /// The reasons why installations could not use the channel.
    private(set) var failures: [String: Int] = [:]
    /// The editions: the newest number first, the app's own policies last.
    private(set) var editions: [Edition] = []
    /// The policies of the editions, to which one process after the other is added.
    var policies = EditionPolicies()

    /// The largest number of editions that are kept apart. A dump may name any.
    private static let mostEditions = 32
    /// The number of editions that are compared, those on the most installations.
    private static let mostCompared = 8

    init(name: String) { self.name = name }

    /// Counts an installation.
    ///
    /// - Parameter facts: the facts of its dump: see `PolicySupply`.
    mutating func count(_ facts: [String: String]) {
        installations += 1
        if let revision = facts["revision"].flatMap({ Int($0) }), revision > 0 {
            oldest = Self.joined(oldest, revision, isBefore: <)
            newest = Self.joined(newest, revision, isBefore: >)
        }
        if let failure = facts["channel_failure"] { failures.count(failure) }
        let running = facts["running"] ?? Edition.own
        edit(running) { edition in
            edition.installations += 1
            edition.trial += facts["state"] == "trial" ? 1 : 0
            edition.confirmed += facts["state"] == "confirmed" ? 1 : 0
        }
        edit(facts["offered"] ?? running) { edition in
            edition.offered += facts["offered"] == nil ? 0 : 1
            if let arm = facts["arm"] { edition.arms.count(arm) }
            if let fate = facts["fate"] { edition.fates.count(fate + (facts["why"].map { ": " + $0 } ?? "")) }
        }
    }

    private static func joined(
        _ known: (revision: Int, installations: Int)?, _ revision: Int, isBefore: (Int, Int) -> Bool
    ) -> (revision: Int, installations: Int) {
        guard let known, !isBefore(revision, known.revision) else { return (revision, 1) }
        return known.revision == revision ? (revision, known.installations + 1) : known
    }

    private mutating func edit(_ name: String, _ change: (inout Edition) -> Void) {
        let name = name.inBrief
        if let place = editions.firstIndex(where: { $0.name == name }) { return change(&editions[place]) }
        if editions.count >= Self.mostEditions, name != String.other { return edit(.other, change) }
        var edition = Edition(name: name)
        change(&edition)
        editions.append(edition)
    }

    /// The channel with its editions in order, compared with each other.
    var compared: ChannelFigures {
        var channel = self
        let names = policies.names.map { Edition(name: $0) }.sorted { $0.order > $1.order }.map(\.name)
        for name in names { channel.edit(name) { _ in } }
        let kept = Set(channel.editions.map(\.name))
        let loads = policies.compared { kept.contains($0) ? $0 : .other }
        let most = channel.editions.filter { $0.name != Edition.own }.sorted {
            $0.installations == $1.installations ? $0.order > $1.order : $0.installations > $1.installations
        }.prefix(Self.mostCompared)
        for name in most.map(\.name) {
            channel.edit(name) { $0.comparisons = EditionComparison.all(of: name, in: loads) }
        }
        channel.editions.sort { $0.order > $1.order }
        return channel
    }
}

extension ChannelFigures.Edition {
    /// Editions without a number come after those with one.
    fileprivate var order: (Int, String) { (name == Self.own ? -2 : Int(name) ?? -1, name) }
}

extension String {
    /// The word for all that are not kept apart.
    static let other = "other"

    /// The beginning of a word in a dump, which may be any text.
    var inBrief: String { String(prefix(40)).printable }
}

extension [String: Int] {
    /// Counts a word of a dump. Of many different words, the last ones count as others.
    fileprivate mutating func count(_ word: String) {
        let word = word.inBrief
        self[self[word] != nil || count < 20 ? word : .other, default: 0] += 1
    }

    /// `reach 3, starts 1`, the most frequent first.
    var inWords: String {
        let order = sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return order.map { "\($0.key) \($0.value.grouped)" }.joined(separator: ", ")
    }
}
