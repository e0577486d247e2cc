import LarderSystem

/// Remembers how the answers for keys vary by fields of the request, in one store. What it forgets is read again from the
/// store.
struct Variations: Sendable {
    private let keys: KeyTable
    /// The number of the store.
    private let store: UInt64

    init(in keys: KeyTable, of store: UInt64) {
        self.keys = keys
        self.store = store
    }

    /// Returns whether answers for a key are known to vary.
    func knows(_ key: Key) -> Bool {
        keys.mayBeUnusual(key) && keys.read(key) { $0.fields(in: store)?.variation } != nil
    }

    /// Returns the key under which the answer to a request is kept: the request's own key if answers are not known to
    /// vary.
    ///
    func entryKey(of request: Request) -> Key {
        guard keys.mayBeUnusual(request.key) else { return request.key }
        return keys.read(request.key) { $0.entryKey(of: request, in: store) } ?? request.key
    }

    // MARK: Learning

    /// Remembers a marker that was read from the store.
    func learn(_ variation: Variation, of key: Key) {
        keys.change(key) { state in
            if state.fields(in: store)?.variation == nil {
                state.setFields(FieldFacts(variation, isMarked: true, in: store))
            }
        }
    }

    /// Remembers that an answer to a request varies by these fields, in addition to those that are known.
    ///
    /// - Parameters:
    ///   - generation: the random text for a key that is not known to vary.
    /// - Returns: the place of the answer.
    func add(_ names: [String], for request: Request, generation: String) -> EntryLocation {
        keys.change(request.key) { state in
            var facts = state.fields(in: store) ?? FieldFacts(nil, in: store)
            var hasRoom = true
            if facts.variation == nil {
                facts = FieldFacts(Variation(names: names, generation: generation), in: store)
            } else {
                hasRoom = facts.add(names)
            }
            let key = facts.entryKey(of: request)
            state.setFields(facts)
            return EntryLocation(
                key: key, names: facts.variation?.names ?? [], variation: facts.variation, isMarked: facts.isMarked,
                matchesNoOther: !hasRoom)
        }
    }

    /// Remembers that the store has the marker of a variation.
    func marked(_ variation: Variation, of key: Key) {
        keys.change(key) { state in
            guard var facts = state.fields(in: store), facts.variation == variation else { return }
            facts.isMarked = true
            state.setFields(facts)
        }
    }

    /// Remembers that an answer to a request with fields did not vary. Requests for this key then share calls, whatever
    /// their fields.
    func addUniform(_ request: Request) {
        if request.details == nil || request.fields.isEmpty { return }
        keys.change(request.key) { state in
            if state.fields(in: store) == nil { state.setFields(FieldFacts(nil, in: store)) }
        }
    }

    /// Forgets that the last answer for a key did not vary. Requests with different fields share no call then.
    func removeUniform(_ key: Key) {
        let isKnown = keys.read(key) { state in state.fields(in: store).map { $0.variation == nil } } ?? false
        if isKnown { keys.change(key) { $0.removeFields(in: store) } }
    }

    /// Forgets the selected keys, because their entries were removed. A selection by tag forgets none.
    func forget(_ selection: Selection) {
        if case .tag = selection { return }
        keys.changeAll(where: { $0.fields(in: store) != nil && selection.contains($0.key, tags: []) }) {
            $0.removeFields(in: store)
        }
    }
}

extension KeyState {
    /// Returns what is known of the fields in a store.
    func fields(in store: UInt64) -> FieldFacts? { fields.first { $0.store == store } }

    func setFields(_ facts: FieldFacts) {
        removeFields(in: facts.store)
        fields.append(facts)
    }

    func removeFields(in store: UInt64) { fields.removeAll { $0.store == store } }

    /// Returns the key under which a store keeps the answer to a request. Returns nil if answers are not known to vary.
    func entryKey(of request: Request, in store: UInt64) -> Key? {
        guard let index = fields.firstIndex(where: { $0.store == store && $0.variation != nil }) else { return nil }
        return fields[index].entryKey(of: request)
    }

    /// Returns what identifies the requests that may share a call with this one.
    ///
    /// - Parameters:
    ///   - mismatches: the number of shared calls that were answered for other fields than the request's. After the
    ///     first, requests share a call by the fields that are now known to matter. After the second, they share one
    ///     only if all their fields are equal, because then any answer matches.
    func sharing(of request: Request, afterMismatches mismatches: Int, in store: UInt64) -> FieldFacts.Sharing {
        if mismatches < 2, let key = entryKey(of: request, in: store) { return .entry(key) }
        let isUniform = fields.contains { $0.store == store && $0.variation == nil }
        return mismatches == 0 && isUniform ? .entry(request.key) : .fields(request.key, request.fields)
    }
}
