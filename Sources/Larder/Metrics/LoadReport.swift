/// What came of one load, for who keeps a record of loads. It tells no key, parameter or payload.
public struct LoadReport: Sendable {
    /// The resource.
    public let resource: String
    /// The revision of the policy that decided.
    public let revision: String
    /// How it was asked for.
    public let mode: Request.Mode
    /// When it began, in wall time.
    public let began: Timestamp
    /// How long its caller waited; zero for a hit that needed no waiting.
    public let took: Duration
    /// How it ended; nil if it was cancelled.
    public let outcome: Outcome?
    /// Where its value came from; nil if it has none.
    public let source: Source?
    /// Whether its value is stale.
    public let isStale: Bool
    /// How old its value is, if that is known.
    public let age: Duration?
    /// How many bytes its payload has.
    public let bytes: Int
    /// What it failed with, without the errors that origin and store threw.
    public let error: LoadError?
    /// The decisions that led to how it ended.
    public let trail: Trail
    let key: Key

    init(
        _ call: Call, _ result: Result<Loaded<Entry>, LoadError>?, revision: String, began: Timestamp, took: Duration
    ) {
        resource = call.key.resource
        key = call.key
        mode = call.request.mode
        self.revision = revision
        self.began = began
        self.took = took
        switch result {
        case .success(let loaded):
            (outcome, error) = (Outcome(of: loaded), nil)
            (source, age, isStale) = (loaded.source, loaded.age, loaded.freshness == .stale)
            bytes = loaded.value.payload.bytes.count
            trail = loaded.trail
        case .failure(let failure):
            var told = failure
            // As they were thrown they may hold anything.
            (told.origin, told.store) = (nil, nil)
            (outcome, error) = (.failed, told)
            (source, age, isStale, bytes) = (nil, nil, false, 0)
            trail = failure.trail
        case nil:
            (outcome, error) = (nil, nil)
            (source, age, isStale, bytes) = (nil, nil, false, 0)
            trail = Trail(call.trail.steps)
        }
    }
}

extension Outcome {
    /// How a load that has a value ended.
    init(of loaded: Loaded<Entry>) {
        switch loaded.source {
        case .origin, .revalidated: self = .live
        case .fallback: self = .fallback
        case .store: self = loaded.fellBack ? .fallback : loaded.freshness == .fresh ? .fresh : .stale
        }
    }
}
