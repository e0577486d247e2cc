import Larder

/// The state of an installation that survives restarts.
struct EditionState: Hashable, Sendable {
    /// An edition in its first hours on this installation.
    struct Trial: Hashable, Sendable {
        var digest: String
        /// The loads that were answered under it.
        var loads = 0
        /// Whether the channel was reached under it.
        var hasReachedChannel = false
    }

    /// An edition that is not taken, or not taken again.
    struct Rejection: Hashable, Sendable {
        /// The end of an edition on this installation.
        enum Fate: String, Sendable { case refused, reverted }

        var digest: String
        var fate: Fate
        /// The reason: the name of an ``EditionError/Code``, or `starts`.
        var why: String
        /// The hash of the app's own policies with which the edition does not go; nil if it goes with none.
        var own: String?
    }

    /// The largest number of rejections that are remembered.
    static let mostRejections = 100
    /// The number of starts that end before an answer, after which an edition is not taken again.
    static let mostEndedStarts = 2

    /// Random digits that decide, together with a salt, which share the installation belongs to.
    var installation: String
    /// A mark of the keys that may sign the channel.
    var keys = ""
    /// The highest revision of the channel that was accepted, and the digest of that channel.
    var revision = 0
    var channel: String?
    var etag: String?
    /// The time at which the channel was last asked for.
    var polled: Timestamp?
    /// The digest of the edition that has proved itself; nil for the app's own policies.
    var confirmed: String?
    var trial: Trial?
    /// The marks of the starts under each edition that ended before an answer, by its digest.
    var endedStarts: [String: Set<String>] = [:]
    var rejections: [Rejection] = []
    /// The number of the edition that the app has chosen itself, 0 for its own policies; nil if it has not.
    var pin: Int?

    init(installation: String) { self.installation = installation }

    /// The digest of the edition that is in effect.
    var current: String? { trial?.digest ?? confirmed }

    /// Returns the rejection of an edition that holds beside the app's own policies.
    func rejection(of digest: String, over own: String?) -> Rejection? {
        rejections.first { $0.digest == digest && ($0.own == nil || $0.own == own) }
    }

    /// Remembers that an edition is not taken, and leaves it if it is in effect.
    mutating func reject(_ rejection: Rejection) {
        rejections.removeAll { $0.digest == rejection.digest && $0.own == rejection.own }
        rejections.append(rejection)
        rejections.removeFirst(max(0, rejections.count - Self.mostRejections))
        if trial?.digest == rejection.digest { trial = nil }
        if confirmed == rejection.digest { confirmed = nil }
    }

    /// Forgets the revision of the channel if other keys sign it now: whoever stole a former key could have published the
    /// highest revision there is.
    mutating func follow(keys: String) {
        if self.keys == keys { return }
        if !self.keys.isEmpty { (revision, channel, etag) = (0, nil, nil) }
        self.keys = keys
    }

    /// Makes an edition the current one, or the app's own policies if it is nil.
    mutating func take(_ digest: String?) {
        guard let digest else {
            (confirmed, trial) = (nil, nil)
            return
        }
        if digest == confirmed {
            trial = nil
        } else if trial?.digest != digest {
            trial = Trial(digest: digest)
        }
    }

    /// Counts a start that ended before an answer. The same mark counts once.
    ///
    /// - Returns: whether the edition is left because of it.
    mutating func countEndedStart(of digest: String, mark: String) -> Bool {
        endedStarts[digest, default: []].insert(mark)
        guard endedStarts[digest, default: []].count >= Self.mostEndedStarts else { return false }
        endedStarts[digest] = nil
        reject(Rejection(digest: digest, fate: .reverted, why: "starts"))
        return true
    }
}
