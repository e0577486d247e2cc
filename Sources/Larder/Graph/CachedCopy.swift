/// The copy that is kept for a load. A strategy asks for a use of it, and gets the copy or the reasons.
///
/// It is judged anew each time it is asked for: one that was permitted when a call began may not be when the call fails.
public struct CachedCopy: Sendable {
    let found: Found
    let key: Key
    let load: UInt64
    let validators: Validators
    let revision: String
    let world: any World

    /// The name of the store or tier it lies in.
    public var tier: String { found.tier }

    /// How old it is now. Negative for a copy from the future.
    public var age: Duration { found.entry.metadata.age(at: world.now) }

    /// The uses that are permitted now, and the validators' reasons.
    public var permissions: Permissions { validators.permit(found.entry.metadata, at: world.now) }

    /// The copy, if it may be shown now for any of `uses`; nil if it may not, for the reasons in ``permissions``.
    ///
    /// - Parameters:
    ///   - uses: what the strategy wants to show it for.
    ///   - fellBack: whether it stands in for a call that failed, was refused or took too long. Metrics count it.
    public func shown(for uses: Uses, fellBack: Bool = false) -> Loaded<Entry>? {
        let now = world.now
        let permissions = validators.permit(found.entry.metadata, at: now)
        guard let use = permissions.uses.intersection(uses).intersection(.showing).best else { return nil }
        return Loaded(
            found.entry,
            account: Account(
                in: found.tier, aged: found.entry.metadata.nanoseconds(at: now), permissions, for: use, of: key,
                load: load,
                by: revision, fellBack: fellBack))
    }

    /// The entry, if the origin may be asked whether it is still current: for ``Call/knowing(_:)``.
    public var revalidatable: Entry? {
        permissions.allows(.revalidation) && found.entry.metadata.hasCondition ? found.entry : nil
    }

    /// Why the copy may not be shown for `uses`, as a line of a trail.
    func refusal(for uses: Uses) -> String {
        let reasons = permissions.reasons(for: uses)
        return "copy refused" + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", "))
    }
}
