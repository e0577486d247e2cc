public import LarderSystem

/// The result of one load, for records of loads. It holds no key, parameter or payload.
public struct LoadReport: Sendable {
    /// The resource.
    public let resource: String
    /// The revision of the policy.
    public let revision: String
    /// The mode of the request.
    public let mode: Request.Mode
    /// The wall time at which the load began.
    public let began: Timestamp
    /// The time that the caller waited; zero for a hit that needed no waiting.
    public let took: Duration
    /// The outcome; nil if the load is in no rate: it was cancelled, nobody was signed in, or the request was wrong, as
    /// ``error`` then says.
    public let outcome: Outcome?
    /// The source of the value; nil if there is no value.
    public let source: Source?
    /// Whether the value is stale.
    public let isStale: Bool
    /// The age of the value; nil if it is not known.
    public let age: Duration?
    /// The size of the payload, in bytes.
    public let bytes: Int
    /// The error, without the errors that the origin and the store threw; nil if the load did not fail.
    public let error: LoadError?
    /// The decisions that led to the outcome.
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
            var reported = failure
            // Errors of the origin and the store may hold private data.
            (reported.origin, reported.store) = (nil, nil)
            (outcome, error) = (failure.isWithoutCall ? nil : .failed, reported)
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
    /// Creates the outcome of a load that returned a value.
    init(of loaded: Loaded<Entry>) {
        switch loaded.source {
        case .origin, .revalidated: self = .live
        case .fallback: self = .fallback
        case .store: self = loaded.fellBack ? .fallback : loaded.freshness == .fresh ? .fresh : .stale
        }
    }
}
