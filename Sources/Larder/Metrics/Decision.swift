/// Something in the life of a resource that was not plain: a load that was not answered with live or fresh data, a store
/// that failed, a breaker that changed, a policy that was swapped. It tells no key, parameter or payload.
public struct Decision: Sendable {
    /// What happened.
    public enum Kind: String, Sendable, CaseIterable {
        /// A copy or a fallback stood in for a call that failed, was refused or took too long.
        case fallback
        /// A stale copy was served, no call waited for.
        case stale
        /// A load ended with an error.
        case failed
        /// A store failed.
        case storeFault
        /// A breaker opened, lets one call try, or closed.
        case breaker
        /// Another policy is in effect, or none any more.
        case policy
        /// New policies were refused; the last good ones stay.
        case refused
        /// Something in the cache folder cannot be used: a store, the log, or the file of the dumps. The pantry goes on
        /// without it. Told once until it works again.
        case cacheUnusable
        /// What could not be used in the cache folder works again.
        case cacheUsable
        /// The log or the dump was moved, deleted or emptied by another program and is begun anew, or lines are missing in
        /// the log.
        case interrupted
    }

    /// When, in wall time.
    public let at: Timestamp
    /// The resource; nil if it is about all of them.
    public let resource: String?
    /// The revision of the policy that decided; nil if none did.
    public let revision: String?
    /// What happened.
    public let kind: Kind
    /// The same in words.
    public let note: String
    /// The load, if it is about one.
    public let load: LoadReport?

    init(at: Timestamp, resource: String?, revision: String?, kind: Kind, note: String) {
        (self.at, self.resource, self.revision, self.kind, self.note) = (at, resource, revision, kind, note)
        load = nil
    }

    /// What there is to say of a load; nil if it was plain.
    init?(_ load: LoadReport) {
        switch load.outcome {
        case .fallback: kind = .fallback
        case .stale: kind = .stale
        case .failed: kind = .failed
        case .live, .fresh, nil: return nil
        }
        at = load.began + load.took
        (resource, revision) = (load.resource, load.revision)
        note = load.error?.message ?? load.trail.description
        self.load = load
    }

    /// One line of the log.
    public var json: JSON {
        var members: [JSON.Member] = [.init("at", .number(at.inSeconds)), .init("kind", .string(kind.rawValue))]
        if let resource { members.append(.init("resource", .string(resource))) }
        if let revision { members.append(.init("revision", .string(revision))) }
        guard let load else { return .object(members + [.init("note", .string(note))]) }
        members.append(.init("took", .number(load.took.inSeconds)))
        if let source = load.source { members.append(.init("source", .string(source.description))) }
        if let age = load.age { members.append(.init("age", .number(age.inSeconds))) }
        if let error = load.error {
            members.append(.init("error", .string(error.code.description)))
            if let status = error.status { members.append(.init("status", .int(status))) }
        }
        return .object(members + [.init("trail", .list(load.trail.lines.map { .string($0) }))])
    }
}
