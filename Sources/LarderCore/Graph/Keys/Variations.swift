import LarderSystem
import Synchronization

/// Remembers how the answers for keys vary by fields of the request.
///
/// It remembers a limited number of keys. What it forgets is read again from the store.
final class Variations: Sendable {
    private struct Known {
        var variation: Variation
        /// Whether the store has the marker.
        var isMarked: Bool
        /// The keys of variants, by the bytes of the fields' values. As texts, equivalent values would be equal.
        var keys: [[UInt8]: Key] = [:]
    }

    private struct State {
        var varying: [Key: Known] = [:]
        /// The keys whose last answer to a request with fields did not vary.
        var uniform: Set<Key> = []
    }

    /// Identifies the requests that may share a call.
    enum Sharing: Hashable {
        /// Requests whose answers are kept under the same key.
        case entry(Key)
        /// Requests with the same fields, because it is not known by which fields answers vary.
        case fields(Key, Fields)
    }

    private static let capacity = 10_000
    private static let variantCapacity = 64

    private let state = Locked(State())
    private let isAny = Atomic(false)
    private let exceptions: HitExceptions

    init(countedBy exceptions: HitExceptions) {
        self.exceptions = exceptions
    }

    deinit { exceptions.change(from: !isEmpty, to: false) }

    /// Whether no key is known to vary. Takes no lock.
    @inline(__always)
    var isEmpty: Bool { !isAny.load(ordering: .relaxed) }

    /// Returns whether answers for a key are known to vary.
    func knows(_ key: Key) -> Bool { !isEmpty && state.withLock { $0.varying[key] != nil } }

    /// Returns the key under which the answer to a request is kept: the request's own key if answers are not known to
    /// vary.
    ///
    /// - Parameter addedFields: the fields that the origin adds to requests that lack them.
    func entryKey(of request: Request, adding addedFields: Fields) -> Key {
        if isEmpty { return request.key }
        return state.withLock { Self.entryKey(of: request, addedFields, &$0) }
    }

    private static func entryKey(of request: Request, _ addedFields: Fields, _ state: inout State) -> Key {
        guard let variation = state.varying[request.key]?.variation else { return request.key }
        let values = variation.values(of: request, adding: addedFields)
        let bytes = Array(values.utf8)
        if let key = state.varying[request.key]?.keys[bytes] { return key }
        let key = variation.key(of: request.key, for: values)
        if state.varying[request.key]?.keys.count ?? 0 >= variantCapacity { state.varying[request.key]?.keys = [:] }
        state.varying[request.key]?.keys[bytes] = key
        return key
    }

    /// Returns what identifies the requests that may share a call with this one.
    ///
    /// - Parameters:
    ///   - addedFields: the fields that the origin adds to requests that lack them.
    ///   - mismatches: the number of shared calls that were answered for other fields than the request's. After the
    ///     first, requests share a call by the fields that are now known to matter. After the second, they share one
    ///     only if all their fields are equal, because then any answer matches.
    func sharing(of request: Request, adding addedFields: Fields, afterMismatches mismatches: Int = 0) -> Sharing {
        state.withLock { state in
            if mismatches < 2, state.varying[request.key] != nil {
                return .entry(Self.entryKey(of: request, addedFields, &state))
            }
            return mismatches == 0 && state.uniform.contains(request.key)
                ? .entry(request.key) : .fields(request.key, request.fields)
        }
    }

    // MARK: Learning

    /// Remembers a marker that was read from the store.
    func learn(_ variation: Variation, of key: Key) {
        state.withLock { state in
            if state.varying[key] == nil { insert(Known(variation: variation, isMarked: true), for: key, &state) }
        }
    }

    /// Remembers that an answer to a request varies by these fields, in addition to those that are known.
    ///
    /// - Parameters:
    ///   - addedFields: the fields that the origin adds to requests that lack them.
    ///   - generation: the random text for a key that is not known to vary.
    /// - Returns: the place of the answer.
    func add(
        _ names: [String], for request: Request, adding addedFields: Fields, generation: @autoclosure () -> String
    ) -> EntryLocation {
        let key = request.key
        return state.withLock { state in
            var known = state.varying[key]
            var hasRoom = true
            if let variation = known?.variation {
                let wider = variation.adding(names)
                hasRoom = wider != nil
                if let wider, wider != variation {
                    known = Known(variation: wider, isMarked: false)
                    state.varying[key] = known
                }
            } else {
                known = Known(variation: Variation(names: names, generation: generation()), isMarked: false)
                if let known { insert(known, for: key, &state) }
            }
            return EntryLocation(
                key: Self.entryKey(of: request, addedFields, &state), names: known?.variation.names ?? [],
                variation: known?.variation, isMarked: known?.isMarked ?? false, matchesNoOther: !hasRoom)
        }
    }

    /// Remembers that the store has the marker of a variation.
    func marked(_ variation: Variation, of key: Key) {
        state.withLock { state in
            if state.varying[key]?.variation == variation { state.varying[key]?.isMarked = true }
        }
    }

    /// Remembers that an answer to a request with fields did not vary. Requests for this key then share calls, whatever
    /// their fields.
    func addUniform(_ request: Request) {
        if request.details == nil || request.fields.isEmpty { return }
        state.withLock { state in
            if state.uniform.count >= Self.capacity { state.uniform = [] }
            state.uniform.insert(request.key)
        }
    }

    /// Forgets that the last answer for a key did not vary. Requests with different fields share no call then.
    func removeUniform(_ key: Key) { state.withLock { _ = $0.uniform.remove(key) } }

    /// Forgets the selected keys, because their entries were removed. A selection by tag forgets none.
    func forget(_ selection: Selection) {
        if case .tag = selection { return }
        state.withLock { state in
            state.varying = state.varying.filter { !selection.contains($0.key, tags: []) }
            state.uniform = state.uniform.filter { !selection.contains($0, tags: []) }
            setAny(!state.varying.isEmpty)
        }
    }

    private func insert(_ known: Known, for key: Key, _ state: inout State) {
        // All are forgotten at once, because the order of a dictionary varies and a replayed history must be the same.
        if state.varying.count >= Self.capacity { state.varying = [:] }
        state.varying[key] = known
        state.uniform.remove(key)
        setAny(true)
    }

    private func setAny(_ value: Bool) {
        exceptions.change(from: isAny.exchange(value, ordering: .relaxed), to: value)
    }
}
