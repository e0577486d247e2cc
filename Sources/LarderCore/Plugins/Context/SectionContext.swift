/// The surroundings of a section.
///
/// `@unchecked Sendable`: its variables are constants.
public final class SectionContext: PlacedContext, @unchecked Sendable {
    /// The end of the section.
    let end = SectionEnd()
    /// The way to the resource's origin.
    let fetcher = CurrentFetcher()

    /// The pantry; nil after it was released.
    var pantry: (any AnyObject & Sendable)? { surroundings.owner?.pantry }

    /// Returns the answer of the resource's origin to a lookup of the section itself. For a change, see
    /// ``send(_:method:invalidating:onlyTo:)``.
    ///
    /// ```swift
    /// let page = try await context.fetch(Request(context.resource, ["cursor": cursor], deadline: .seconds(20)))
    /// ```
    ///
    /// The call passes the wrappers of the policy and counts as a call of its origin, but not as a load. It bypasses
    /// strategy, store, validators and fallbacks: it is never answered by a copy, shared or saved. A request without a scope
    /// is in the scope of the account in whose name the origin signs its calls. The mode of the request has no effect on
    /// this, but an origin may read it.
    ///
    /// It works once the policy is in effect, so not while the section's attachment is made. After a reload it calls the
    /// origin of the new policy, unless the reload has replaced the attachment.
    ///
    /// - Parameter source: the mark that the origin must have, so that nothing of another service is taken for this one's
    ///   after a reload; nil for any. See ``Resource/sourceMarks``.
    /// - Returns: the payload, and the facts that the origin tells about it. The times are set.
    /// - Throws: ``LoadError``. An error of the origin that is an answer (``LoadError/isAnswer``), such as one with the
    ///   status 404, has its ``LoadError/reply``. `CancellationError` if the task is cancelled.
    public func fetch(_ request: Request, onlyFrom source: String? = nil) async throws -> Entry {
        guard let fetcher = fetcher.fetcher else {
            throw LoadError(.unavailable, "nothing can be fetched before the policy is in effect")
        }
        return try await fetcher.fetch(request, onlyFrom: source)
    }

    /// Whether the part may start work of its own in the background, such as refreshes on a schedule. It is false in a
    /// tool that only looks into the stores beside the app, and in one that only does due work.
    public var allowsBackgroundWork: Bool { surroundings.owner?.allowsBackgroundWork ?? true }

    /// Whether ``DueWork/runDue()`` may be called, so that the part may note in its place when work is due. It is false in a
    /// tool that only looks into the stores beside the app.
    public var allowsDueWork: Bool { surroundings.owner?.allowsDueWork ?? true }
}
