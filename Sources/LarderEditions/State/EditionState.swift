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

    /// An edition that has every plugin it needs in a program.
    struct Fitting: Hashable, Sendable {
        /// The mark of the program.
        var program: String
        var digest: String
    }

    /// An edition that is not taken, or not taken again.
    struct Rejection: Hashable, Sendable {
        /// The end of an edition on this installation.
        enum Fate: String, Sendable { case refused, reverted }

        var digest: String
        var fate: Fate
        /// The reason: the name of an ``EditionError/Code``, or `starts`.
        var why: String
        /// The hash of the app's own policies and the digest of its plugins, with which the edition does not go; nil if it goes
        /// with none.
        var own: String?
        var plugins: String?

        /// The rejection of an edition under which the app ended twice before any load.
        static func reverted(_ digest: String) -> Rejection {
            Rejection(digest: digest, fate: .reverted, why: "starts")
        }
    }

    /// The largest number of rejections that are remembered.
    static let mostRejections = 100
    /// The number of starts, one after the other, that end before any load, after which an edition is not taken again.
    static let mostEndedStarts = 2

    /// Random digits that decide, together with a salt, which share the installation belongs to.
    var installation: String
    /// The ids of the keys that may sign the channel.
    var keys: Set<String> = []
    /// The highest revision of the channel that was accepted, and the digest of that channel.
    var revision = 0
    var channel: String?
    var etag: String?
    /// The time at which the channel was last reached, by any process.
    var reached: Timestamp?
    /// The digest of the edition that has proved itself; nil for the app's own policies.
    var confirmed: String?
    var trial: Trial?
    var rejections: [Rejection] = []
    /// The edition that was in effect last, if it was found to fit. So the next start need not look.
    var fitting: Fitting?
    /// The number of the edition that the app has chosen itself, 0 for its own policies; nil if it has not.
    var pin: Int?

    init(installation: String) { self.installation = installation }

    /// The digest of the edition that is in effect.
    var current: String? { trial?.digest ?? confirmed }

    /// Remembers that an edition is not taken, and leaves it if it is in effect.
    mutating func reject(_ rejection: Rejection) {
        rejections.removeAll {
            $0.digest == rejection.digest && $0.own == rejection.own && $0.plugins == rejection.plugins
        }
        rejections.append(rejection)
        rejections.removeFirst(max(0, rejections.count - Self.mostRejections))
        if trial?.digest == rejection.digest { trial = nil }
        if confirmed == rejection.digest { confirmed = nil }
    }

    /// Makes an edition the current one; nil for the app's own policies.
    mutating func makeCurrent(_ digest: String?) {
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
}
