/// A search for the entry under a key.
///
/// A store with one place returns the entry that it has there. A store of several tiers may have several entries, and
/// asks ``judge(_:beside:)`` about each, beginning with the fastest tier.
public struct Reading: Sendable {
    /// The judgement about an entry of one tier.
    public enum Verdict: Sendable {
        /// The entry is to be returned. The tiers below need not be asked.
        case best
        /// The entry is better than those before. A tier below may have a better one.
        case better
        /// The entry is no better than the one before, or is of no use to this search.
        case passed
        /// The entry is damaged, or may not be kept. ``Found/repair`` replaces it by the entry that is returned.
        case refused
    }

    /// The key of the entry.
    public let key: Key
    /// Whether the entry's payload is needed. If not, a store may leave it out, and counts neither a hit nor a miss.
    public let needsPayload: Bool
    private let judge: (any EntryJudge)?

    /// Creates a search for the first entry under a key.
    public init(_ key: Key, needsPayload: Bool = true) { self.init(key, needsPayload: needsPayload, judge: nil) }

    package init(_ key: Key, needsPayload: Bool = true, judge: (any EntryJudge)?) {
        self.key = key
        self.needsPayload = needsPayload
        self.judge = judge
    }

    /// Judges the entry of one tier.
    ///
    /// - Parameter best: the best entry of the tiers before; nil if they had none.
    /// - Throws: any error if that cannot be found out. The store goes on as if the tier had failed.
    public func judge(_ found: inout Found, beside best: Found?) async throws -> Verdict {
        guard let judge else { return best == nil ? .best : .passed }
        return try await judge.judge(&found, beside: best)
    }
}

/// Judges the entries that a store of several tiers has for one search.
package protocol EntryJudge: AnyObject, Sendable {
    /// Judges an entry. If it is good, sets ``Found/judged``.
    func judge(_ found: inout Found, beside best: Found?) async throws -> Reading.Verdict
}

/// Opens entries for the judge of a search.
private final class OpeningJudge: EntryJudge {
    let reading: Reading
    let open: @Sendable (Found) throws -> Found?

    init(_ reading: Reading, open: @escaping @Sendable (Found) throws -> Found?) {
        self.reading = reading
        self.open = open
    }

    func judge(_ found: inout Found, beside best: Found?) async throws -> Reading.Verdict {
        guard var opened = try open(found) else { return .passed }
        defer { found.judged = opened.judged }
        return try await reading.judge(&opened, beside: best)
    }
}

extension Store {
    /// Returns the entry under `key`. Returns nil if there is none.
    ///
    /// - Throws: any error if reading fails.
    public func read(_ key: Key) async throws -> Found? { try await read(Reading(key)) }

    /// Returns whether there is an entry under `key`.
    ///
    /// - Throws: any error if reading fails.
    public func contains(_ key: Key) async throws -> Bool {
        try await read(Reading(key, needsPayload: false)) != nil
    }

    /// Searches this store for a store around it, whose users see other entries, such as decrypted ones.
    ///
    /// - Parameters:
    ///   - open: returns what users see of an entry that was found, or nil if it is not for them. If the payload is not
    ///     needed, the entry may have none.
    ///   - seal: returns the entry to keep. It is called when the entry is copied to other tiers of this store.
    /// - Throws: any error if reading fails, or the error of `open`.
    public func read(
        _ reading: Reading, opening open: @escaping @Sendable (Found) throws -> Found?,
        sealing seal: @escaping @Sendable (Entry) throws -> Entry
    ) async throws -> Found? {
        let opening = Reading(reading.key, needsPayload: reading.needsPayload, judge: OpeningJudge(reading, open: open))
        return try opened(try await read(opening), by: open, sealing: seal)
    }

    @inline(never)
    private func opened(
        _ found: Found?, by open: (Found) throws -> Found?, sealing seal: @escaping @Sendable (Entry) throws -> Entry
    ) throws -> Found? {
        guard var opened = try found.flatMap(open) else { return nil }
        if let repair = opened.repair { opened.repair = { try await repair(seal($0)) } }
        return opened
    }
}
