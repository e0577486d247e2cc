import LarderSystem

/// A failure of one tier.
public struct StoreFault: Sendable, CustomStringConvertible {
    /// The name of the tier that failed.
    public var tier: String
    /// The error of the tier.
    public var error: any Error

    /// Creates a failure of `tier`.
    public init(tier: String, error: any Error) {
        self.tier = tier
        self.error = error
    }

    /// The tier and the message of the error. A foreign error has its name in place of its message, which may hold a
    /// secret.
    public var description: String { "\(tier): \(reason)" }

    var reason: String { (error as? StoreError)?.message ?? LoadError.name(of: error) }
}

/// The failure of an operation of a store.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// A description of the failure. It holds no key and no payload.
    public var message: String
    /// The failures of the tiers, if the store has several tiers.
    public var faults: [StoreFault]
    /// Whether another tier kept the entry.
    public var isStored: Bool
    /// Whether the entry is damaged, so that it should be removed.
    public var isDamaged = false
    /// Whether the disk is full, so that a store can make room and try again.
    public var isFull = false
    /// Whether the store cannot do this at all. Trying again is of no use.
    public var isUnsupported = false
    /// The operations that were given up but are still running. A write among them can still take effect, so the graph
    /// lets no later operation on the same entry overtake it.
    public var unfinished: [UnfinishedOperation] = []
    /// Whether an older copy may be left that could be neither expired nor removed after a failed write. The graph does
    /// not show this copy as fresh until the process ends.
    var leavesOlder = false
    /// Whether the store is not open yet.
    var isNotOpen = false

    /// Creates a failure with a description.
    public init(_ message: String, faults: [StoreFault] = [], isStored: Bool = false) {
        self.message = message
        self.faults = faults
        self.isStored = isStored
    }

    /// Creates the failure of a store that consists of several stores, from the errors of these stores.
    ///
    /// ``isDamaged`` is set if it is set in one of the errors, ``isUnsupported`` if it is set in all of them. Operations that were given up but are still running keep
    /// their order: later operations of the graph wait for them.
    public init(_ message: String, failures: [(tier: String, error: any Error)], isStored: Bool = false) {
        self.init(message, faults: failures.flatMap { Self.faults(of: $0.error, in: $0.tier) }, isStored: isStored)
        let errors = faults.compactMap { $0.error as? StoreError }
        isDamaged = errors.contains(where: \.isDamaged)
        isUnsupported = !errors.isEmpty && errors.count == failures.count && errors.allSatisfy(\.isUnsupported)
        unfinished = errors.flatMap(\.unfinished)
        leavesOlder = failures.contains { ($0.error as? StoreError)?.leavesOlder == true }
    }

    /// Returns the failure of an operation that the store does not have.
    public static func unsupported(_ message: String) -> StoreError {
        var failure = StoreError(message)
        failure.isUnsupported = true
        return failure
    }

    /// Returns the faults of one tier. The first one has the flags and the unfinished operations of the tier's own
    /// failure.
    private static func faults(of error: any Error, in tier: String) -> [StoreFault] {
        guard let failure = error as? StoreError, let first = failure.faults.first else {
            return [StoreFault(tier: tier, error: error)]
        }
        var carrier = first.error as? StoreError ?? StoreError(failure.message)
        carrier.isDamaged = carrier.isDamaged || failure.isDamaged
        carrier.isUnsupported = carrier.isUnsupported || failure.isUnsupported
        carrier.unfinished += failure.unfinished
        return [StoreFault(tier: first.tier, error: carrier)] + failure.faults.dropFirst()
    }

    /// The message.
    public var description: String { message }

    /// Returns the description of an error. For a foreign error, returns its name, because its text may hold a secret.
    static func reason(for error: any Error) -> String {
        switch error {
        case let error as Disk.Failure: error.description
        case let error as StoreError: error.description
        case let error as LoadError: error.description
        default: LoadError.name(of: error)
        }
    }

    /// The failure of reading a damaged entry.
    public static var damaged: StoreError {
        var failure = StoreError("the entry is damaged")
        failure.isDamaged = true
        return failure
    }
}
