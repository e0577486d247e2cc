/// Looks something up at the origin for a section: see ``SectionContext/fetch(_:onlyFrom:)``.
struct Fetcher: Sendable {
    let access: OriginAccess
    let resource: String
    /// Returns the account that is the scope of requests without one; nil if the origin does not sign its calls.
    let account: (@Sendable () -> String?)?
    let revision: String
    /// Makes sure that the origin has a mark: see ``Resource/sourceMarks``.
    let checkSource: @Sendable (_ mark: String?) throws -> Void

    /// Returns the origin's answer.
    ///
    /// - Parameter source: the mark that the origin must have; nil for any.
    /// - Throws: ``LoadError``; `CancellationError` if the task is cancelled.
    func fetch(_ request: Request, onlyFrom source: String?) async throws -> Entry {
        try checkSource(source)
        guard request.key.resource == resource else { throw LoadError.otherResource }
        let call = Call(request.owned(by: account))
        do {
            var loaded = try await access.load(call)
            // Without validators, this dates the answer and admits it.
            _ = try await Validators([]).receive(&loaded, from: .origin, for: call, in: access.world)
            return loaded.value
        } catch var failure as LoadError {
            failure.trail.revision = revision
            throw failure
        }
    }
}
