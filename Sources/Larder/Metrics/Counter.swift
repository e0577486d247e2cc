/// A number that only grows while a process runs. Dumps, reports and both text formats take its name and its line of
/// help from here.
public enum Counter: Int, CaseIterable, Hashable, Sendable {
    /// Loads that ended, cancelled and cached-only ones aside.
    case loads
    /// Loads answered by a store without waiting for a call that failed or was too slow.
    case hits
    /// Loads answered by a copy or a fallback because a call failed, was refused or took too long.
    case fallbacks
    /// Loads answered with a stale entry.
    case stale
    /// Loads that ended with an error.
    case failures
    /// Loads that ended with an answer of the origin that is an error, such as a 404. They are failures too.
    case answers
    /// Loads that failed because the origin did and the validators refused the copy.
    case staleErrors
    /// Loads that were cancelled.
    case cancelled
    /// Loads that asked for a copy only.
    case cachedOnly
    /// Loads that joined a call already under way.
    case coalesced
    /// Background refreshes that ended.
    case refreshes
    /// Background refreshes that failed.
    case refreshErrors
    /// Calls the origin was sent, retries included.
    case originCalls
    /// Calls the origin failed, or did not answer before a timeout gave them up.
    case originErrors
    /// Calls that named a copy, so that the origin could say it is still current.
    case revalidations
    /// Answers that said the copy is still current.
    case unchanged
    /// Tries after a failed one.
    case retries
    /// Second calls made because the first was slow.
    case hedges
    /// Second calls that answered first.
    case hedgesWon
    /// Times a breaker opened.
    case breakerOpenings
    /// Calls a breaker refused.
    case breakerRefusals
    /// Milliseconds for which breakers were open, counted when they let a call through again.
    case breakerOpenMilliseconds
    /// Bytes of payload that origins sent.
    case bytesIn
    /// Bytes of payload that callers got.
    case bytesOut
    /// Copies that were found damaged and removed.
    case corrupt

    /// The name in dumps: `stale_errors`.
    public var name: String { texts.name }

    /// What is counted, in one line.
    public var help: String { texts.help }

    /// The counter of that name.
    init?(name: String) {
        guard let counter = Self.byName[name] else { return nil }
        self = counter
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })

    private var texts: (name: String, help: String) {
        switch self {
        case .loads: ("loads", "Loads that ended, cancelled and cached-only ones aside")
        case .hits: ("hits", "Loads answered by a store, no call waited for that failed or was too slow")
        case .fallbacks: ("fallbacks", "Loads answered by a stand-in for a call that failed, was refused or too slow")
        case .stale: ("stale", "Loads answered with a stale entry")
        case .failures: ("failures", "Loads that ended with an error")
        case .answers: ("answers", "Failures that were an answer of the origin, such as a 404")
        case .staleErrors: ("stale_errors", "Loads that failed although there was a copy, which was refused")
        case .cancelled: ("cancelled", "Loads that were cancelled")
        case .cachedOnly: ("cached_only", "Loads that asked for a copy only")
        case .coalesced: ("coalesced", "Loads that joined a call already under way")
        case .refreshes: ("refreshes", "Background refreshes that ended")
        case .refreshErrors: ("refresh_errors", "Background refreshes that failed")
        case .originCalls: ("origin_calls", "Calls the origin was sent, retries included")
        case .originErrors: ("origin_errors", "Calls the origin failed or did not answer in time")
        case .revalidations: ("revalidations", "Calls that asked whether a copy is still current")
        case .unchanged: ("unchanged", "Answers that said the copy is still current")
        case .retries: ("retries", "Tries after a failed one")
        case .hedges: ("hedges", "Second calls made because the first was slow")
        case .hedgesWon: ("hedges_won", "Second calls that answered first")
        case .breakerOpenings: ("breaker_openings", "Times a breaker opened")
        case .breakerRefusals: ("breaker_refusals", "Calls a breaker refused")
        case .breakerOpenMilliseconds:
            ("breaker_open_milliseconds", "Milliseconds for which breakers were open, counted when they close")
        case .bytesIn: ("bytes_in", "Bytes of payload that origins sent")
        case .bytesOut: ("bytes_out", "Bytes of payload that callers got")
        case .corrupt: ("corrupt", "Copies that were found damaged and removed")
        }
    }
}

/// Whether a breaker lets calls through.
public enum BreakerLevel: String, Hashable, Sendable, CaseIterable {
    /// It does.
    case closed
    /// It lets one try.
    case halfOpen = "half-open"
    /// It does not.
    case open
}

/// A failure of a store, as far as failures are told apart.
public struct Fault: Hashable, Sendable, Comparable {
    /// What a store could not do.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Find an entry.
        case read
        /// Keep an entry.
        case write
        /// Forget an entry.
        case remove
    }

    /// The store or tier.
    public var tier: String
    /// What it could not do.
    public var kind: Kind

    /// A failure of `tier`.
    public init(tier: String, kind: Kind) {
        self.tier = tier
        self.kind = kind
    }

    /// By tier, then by kind.
    public static func < (one: Fault, other: Fault) -> Bool {
        (one.tier, one.kind.rawValue) < (other.tier, other.kind.rawValue)
    }
}
