import Larder

/// A promise about changes of records, with the way it is judged.
struct RecordPromise: Sendable {
    /// The name of the setting.
    let name: String
    /// Its limit; nil for a promise without one.
    var limit: Duration?
    /// Returns the breach of the promise; nil if a history keeps it.
    let breach: @Sendable (RecordHistory) -> RecordBreach?

    /// The promises of a policy.
    static func all(of promises: Promises) -> [RecordPromise] {
        var all: [RecordPromise] = []
        if promises.losesNothing { all.append(RecordPromise(name: "losesNothing") { $0.loss }) }
        if promises.appliesOnce { all.append(RecordPromise(name: "appliesOnce") { $0.repetition }) }
        if promises.noLostUpdate { all.append(RecordPromise(name: "noLostUpdate") { $0.overwriting }) }
        if let limit = promises.sentWithin {
            all.append(
                RecordPromise(name: "sentWithin", limit: limit) { history in
                    if let reason = history.unsent ?? history.loss { return reason }
                    guard let time = history.sentAfter, time > limit else { return nil }
                    return RecordBreach("the last change reaches the service after \(time.inWords)")
                })
        }
        return all
    }

    /// Returns the limit that all histories keep; nil if the promise has none, or if a change never arrives.
    func needed(_ histories: [RecordHistory]) -> Duration? {
        let holds = limit != nil && !histories.contains { $0.unsent != nil || $0.loss != nil }
        return holds ? histories.compactMap(\.sentAfter).max() : nil
    }
}
