/// A number that never decreases while a process runs.
///
/// Larder has counters of its own for every resource: see ``core``. A plugin declares its counters beside the code that
/// counts. It lists them when the plugin is created:
///
/// ```swift
/// extension Counter {
///     static let naps = Counter("naps", "Calls that waited for a nap")
/// }
///
/// Plugin.wrapper("nap", "Lets each call wait.", counters: [.naps]) { context, inner in … }
/// ```
///
/// ``Context/count(_:_:)`` adds to a counter. Dumps, reports and text formats show its name and its help, also while
/// its value is zero. Counters with the same name are equal.
public struct Counter: Hashable, Sendable, NamedMetric {
    package static let kind = "counter"

    /// The unit of a counter.
    package enum Unit: Sendable {
        /// Events.
        case events
        /// Bytes.
        case bytes
        /// Milliseconds.
        case milliseconds
    }

    /// The name in dumps: `stale_errors`.
    public let name: String
    /// A description of the counted events, in one line.
    package let help: String
    /// The index in ``core``; nil for a counter of a plugin.
    let index: Int?

    /// Creates a counter of a plugin.
    ///
    /// - Parameters:
    ///   - name: lowercase words joined by underscores, such as `cache_warmings`, at most 64 characters. A name that
    ///     begins with `bytes_` or ends in `_bytes` counts bytes. A name that ends in `_milliseconds` counts time,
    ///     which the text formats show in seconds.
    ///   - help: a description of the counted events, in one line.
    public init(_ name: String, _ help: String) {
        self.name = name
        self.help = help
        index = Self.core.firstIndex { $0.name == name }
    }

    private init(_ index: Int, name: String, help: String) {
        self.name = name
        self.help = help
        self.index = index
    }

    /// The unit, which follows from the name.
    package var unit: Unit {
        if name.hasSuffix("_milliseconds") { return .milliseconds }
        return name.hasPrefix("bytes_") || name.hasSuffix("_bytes") ? .bytes : .events
    }
}

extension Counter {
    /// Larder's own counters, in the order of their indices.
    public static let core: [Counter] = [
        .loads, .hits, .fallbacks, .stale, .failures, .answers, .staleErrors, .cancelled, .cachedOnly, .coalesced,
        .refreshes, .refreshErrors, .originCalls, .originErrors, .revalidations, .unchanged, .bytesIn, .bytesOut,
        .corrupt, .saves, .expirations, .prefetches, .sends, .failedSends, .offlineSpells, .offlineTime, .offlineLive,
        .offlineFresh, .offlineStale, .offlineFallbacks, .offlineFailures, .prefetched, .prefetchedBytes,
        .prefetchedUsed, .prefetchedUsedBytes, .prefetchedWasted, .prefetchedWastedBytes,
        .notSignedIn, .invalidRequests,
    ]

    /// Loads that ended. Cancelled and cached-only loads, prefetches, loads while nobody is signed in and wrong requests are
    /// counted apart.
    package static let loads = Counter(
        0, name: "loads", help: "Loads that ended, without those that are counted apart")
    package static let hits = Counter(
        1, name: "hits", help: "Loads answered by a store without waiting for a call that failed or was too slow")
    package static let fallbacks = Counter(
        2, name: "fallbacks",
        help: "Loads answered by a copy or a fallback because a call failed, was refused or was too slow")
    package static let stale = Counter(3, name: "stale", help: "Loads answered with a stale entry")
    package static let failures = Counter(4, name: "failures", help: "Loads that ended with an error")
    /// Loads that ended with an answer of the origin that is an error, such as a 404. They are failures too.
    package static let answers = Counter(
        5, name: "answers", help: "Failures that were an answer of the origin, such as a 404")
    package static let staleErrors = Counter(
        6, name: "stale_errors", help: "Loads that failed because the origin failed and the validators refused the copy"
    )
    package static let cancelled = Counter(7, name: "cancelled", help: "Loads that were cancelled")
    package static let cachedOnly = Counter(8, name: "cached_only", help: "Loads that asked only for a copy")
    package static let coalesced = Counter(9, name: "coalesced", help: "Loads that joined a running call")
    package static let refreshes = Counter(10, name: "refreshes", help: "Background refreshes that ended")
    package static let refreshErrors = Counter(11, name: "refresh_errors", help: "Background refreshes that failed")
    package static let originCalls = Counter(12, name: "origin_calls", help: "Calls to the origin, retries included")
    package static let originErrors = Counter(
        13, name: "origin_errors", help: "Calls to the origin that failed or had no answer in time")
    package static let revalidations = Counter(
        14, name: "revalidations", help: "Calls that asked the origin whether a copy is still current")
    package static let unchanged = Counter(
        15, name: "unchanged", help: "Answers of the origin that the copy is still current")
    package static let bytesIn = Counter(16, name: "bytes_in", help: "Bytes of payload that origins sent")
    package static let bytesOut = Counter(17, name: "bytes_out", help: "Bytes of payload that callers got")
    package static let corrupt = Counter(18, name: "corrupt", help: "Damaged copies that were removed")
    package static let saves = Counter(19, name: "saves", help: "Values that the app saved by itself")
    package static let expirations = Counter(
        20, name: "expirations", help: "Times that copies were marked as expired because the app said so")
    /// Prefetches that ended: loads with the purpose ``Request/Purpose-swift.enum/prefetch``.
    package static let prefetches = Counter(21, name: "prefetches", help: "Prefetches that ended")
    package static let sends = Counter(22, name: "sends", help: "Changes that were sent to the origin")
    package static let failedSends = Counter(
        23, name: "failed_sends", help: "Changes that ended with an error or were cancelled")
    package static let offlineSpells = Counter(
        24, name: "offline_spells", help: "Times that the device lost its network")
    /// The time without a network, in milliseconds.
    package static let offlineTime = Counter(25, name: "offline_milliseconds", help: "Time without a network")
    package static let offlineLive = Counter(
        26, name: "offline_live", help: "Loads that ended without a network and were answered by the origin")
    package static let offlineFresh = Counter(
        27, name: "offline_fresh", help: "Loads that ended without a network and were answered by a fresh copy")
    package static let offlineStale = Counter(
        28, name: "offline_stale",
        help: "Loads that ended without a network and were answered by a stale copy without a call")
    package static let offlineFallbacks = Counter(
        29, name: "offline_fallbacks",
        help: "Loads that ended without a network and were answered by a fallback, or by a copy in the place of a call")
    package static let offlineFailures = Counter(
        30, name: "offline_failures", help: "Loads that ended without a network and with an error")

    /// Prefetched answers that were saved. Each is counted once more when it ends: in ``prefetchedUsed`` or
    /// ``prefetchedWasted``. The others still wait for a use.
    package static let prefetched = Counter(31, name: "prefetched", help: "Prefetched answers that were saved")
    /// Bytes of payload of ``prefetched``.
    package static let prefetchedBytes = Counter(
        32, name: "prefetched_bytes", help: "Bytes of prefetched answers that were saved")
    /// Prefetched copies that have answered a user's load, counted at the first load.
    package static let prefetchedUsed = Counter(
        33, name: "prefetched_used", help: "Prefetched copies that have answered a user's load")
    /// Bytes of payload of ``prefetchedUsed``.
    package static let prefetchedUsedBytes = Counter(
        34, name: "prefetched_used_bytes", help: "Bytes of prefetched copies that have answered a user's load")
    /// Prefetched copies that were evicted, cleared, removed or replaced before any user's load was answered by them.
    package static let prefetchedWasted = Counter(
        35, name: "prefetched_wasted", help: "Prefetched copies that were removed or replaced before any use")
    /// Bytes of payload of ``prefetchedWasted``.
    package static let prefetchedWastedBytes = Counter(
        36, name: "prefetched_wasted_bytes",
        help: "Bytes of prefetched copies that were removed or replaced before any use")

    /// Loads that ended because nobody was signed in. They stand in no rate.
    package static let notSignedIn = Counter(
        37, name: "not_signed_in", help: "Loads that ended because nobody was signed in")
    /// Loads whose request the origin cannot answer: a mistake of the app. They stand in no rate.
    package static let invalidRequests = Counter(
        38, name: "invalid_requests",
        help: "Loads that lack a parameter of the origin or have one that it does not take, a mistake of the app")

    /// The counter of the loads with this outcome that ended without a network.
    static func offline(_ outcome: Outcome) -> Counter {
        switch outcome {
        case .live: .offlineLive
        case .fresh: .offlineFresh
        case .stale: .offlineStale
        case .fallback: .offlineFallbacks
        case .failed: .offlineFailures
        }
    }
}
