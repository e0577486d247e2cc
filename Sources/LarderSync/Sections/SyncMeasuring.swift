import Larder

extension SectionContext {
    /// The records of the account that is signed in; nil before the policy is in effect.
    var presentTable: RecordTable? {
        ownResource.map { RecordTable(resource: resource, scope: $0.request().key.scope) }
    }

    /// Whether the origin works for an account, and nobody is signed in.
    var lacksAccount: Bool { (try? ownResource?.lacksAccount) == true }
}

extension RecordsAttachment {
    /// The rules by which the state of the queue is judged now.
    var queueRules: QueueRules {
        let outbox = outbox
        return QueueRules(
            rules: planner.rules, most: outbox.most, capacity: outbox.capacity, account: context.presentTable?.scope,
            lacksAccount: context.lacksAccount, knownSize: { [weak self] in self?.queueSize(of: $0, at: $1) })
    }

    /// Returns the state of what is fetched.
    ///
    /// - Parameter facts: the facts about the records of the account that is signed in; nil if there are none.
    func level(of facts: TableFacts?) -> PullLevel {
        guard work?.pullInterval != nil, !context.lacksAccount else { return .complete }
        guard let pull = facts?.pull else { return .partial }
        if pull.suspected != nil { return .suspicious }
        if pull.isExpired { return .expired }
        return isComplete(pull) ? .complete : .partial
    }

    /// Sets the gauges and levels. If the database cannot be read, the gauges have no number, and the levels stay.
    func measure() async {
        let (rules, present) = (queueRules, context.presentTable)
        let read = try? await blocking { [database, resource] in
            (try database.queue(of: resource, by: rules), try present.flatMap { try database.knownFacts(of: $0) })
        }
        context.set(read?.0)
        guard let (queue, facts) = read else { return }
        context.set(.outbox, to: queue.level.rawValue)
        context.set(.pull, to: level(of: facts).rawValue)
    }
}
