public import Larder

extension Pantry {
    /// Returns the language of the service that the policy of a resource describes; nil if it has no section `records`.
    ///
    /// - Parameter resource: the name of the resource.
    public func serviceDialect(of resource: String) -> ServiceDialect? {
        attachment(RecordsAttachment.self, of: resource)?.dialect
    }
}

extension RecordsAttachment {
    /// The time from a change to its first try. A run that fetches sends, too.
    private var firstTry: Duration {
        min(max(outbox.gather, work?.push?.every ?? .zero), work?.pullInterval ?? .forever)
    }

    fileprivate var dialect: ServiceDialect {
        let rules = planner.rules
        let id = JSONPointer(steps: rules.idPath)
        return ServiceDialect(
            id: id, namesRecords: rules.ids == .server,
            version: rules.versionPath.map { JSONPointer(steps: $0) }, updatedAt: updatedAt,
            pull: work?.pullDialect(id: id),
            push: work?.pushDialect, fullPulls: work?.fullPulls,
            firstTry: firstTry, format: stampFormat ?? .iso8601Milliseconds)
    }
}
