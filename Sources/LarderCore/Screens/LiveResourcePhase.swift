extension LiveResource {
    /// The state of a screen, with everything that may be drawn in it.
    ///
    /// A value can be reached only together with its freshness, and no phase has both an error and a spinner.
    public enum Phase: Sendable {
        /// Nothing is shown yet, and a load is under way.
        case loading
        /// The value is current.
        case fresh(Value, isRefreshing: Bool)
        /// The value is no longer current. The age is nil if it is not known, as with a fallback.
        case stale(Value, age: Duration?, isRefreshing: Bool)
        /// There is nothing to show and nothing is being loaded: the data was cleared, or there is no copy and the policy
        /// does not ask the origin.
        case empty
        /// The last load failed. The value that was shown before is still there, unless the error is an answer of the
        /// origin: see ``LoadError/isAnswer``.
        case failed(LoadError, shown: Shown?)
        /// The device has no network. A load begins by itself when the network returns.
        case offline(shown: Shown?)
    }

    /// A value on a screen, with its freshness.
    public struct Shown: Sendable {
        /// The value.
        public let value: Value
        /// Whether the value is current.
        public let freshness: Freshness
        /// The age of the value; nil if it is not known, as with a fallback.
        public let age: Duration?
    }
}

extension LiveResource.Phase {
    /// The value, whatever its freshness; nil if there is nothing to show.
    package var value: Value? {
        switch self {
        case .loading, .empty: nil
        case .fresh(let value, _), .stale(let value, _, _): value
        case .failed(_, let shown), .offline(let shown): shown?.value
        }
    }

    /// Whether a spinner belongs on the screen: a load is under way, and nothing says that it cannot succeed.
    package var isLoading: Bool {
        switch self {
        case .loading, .fresh(_, isRefreshing: true), .stale(_, _, isRefreshing: true): true
        case .fresh, .stale, .empty, .failed, .offline: false
        }
    }

    /// The error of the last load; nil if it did not fail, another load is under way, or the device has no network.
    package var error: LoadError? {
        if case .failed(let error, _) = self { error } else { nil }
    }

    /// Whether the device has no network.
    package var isOffline: Bool {
        if case .offline = self { true } else { false }
    }
}

/// Everything in a phase that a screen shows, but for the age. So a phase can be told from one that looks the same.
struct PhaseLook: Equatable {
    private let (isLoading, isOffline, isFresh, hasValue): (Bool, Bool, Bool, Bool)
    private let (values, ends): (Int, Int)
    private let error: String?

    /// - Parameters:
    ///   - values: the number of values that were put on the screen so far.
    ///   - ends: the number of loads that have ended so far. A screen that shows their ends needs a phase for each.
    init<Value>(of phase: LiveResource<Value>.Phase, values: Int, ends: Int) {
        (self.values, self.ends) = (values, ends)
        (isLoading, isOffline, hasValue) = (phase.isLoading, phase.isOffline, phase.value != nil)
        error = phase.error.map { "\($0.code) \($0.message)" }
        isFresh =
            switch phase {
            case .fresh: true
            case .failed(_, let shown), .offline(let shown): shown?.freshness == .fresh
            case .loading, .stale, .empty: false
            }
    }
}
