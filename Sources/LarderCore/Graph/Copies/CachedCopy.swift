import LarderSystem

/// The copy that a store keeps for a request. A strategy asks for a use of it, and gets the copy or the reasons against
/// it.
///
/// The validators are asked each time. A copy that is permitted at the start of a call may be too old when the call
/// fails.
public final class CachedCopy: Sendable {
    // A class, because the results of searches are copied often: see `MeasuredLoader`.
    let found: Found
    /// Whether the store keeps the copy.
    let isKept: Bool
    let request: Request
    let load: UInt64
    let validators: Validators
    let revision: String
    let world: any World

    init(
        found: Found, isKept: Bool, request: Request, load: UInt64, validators: Validators, revision: String,
        world: any World
    ) {
        (self.found, self.isKept, self.request, self.load) = (found, isKept, request, load)
        (self.validators, self.revision, self.world) = (validators, revision, world)
    }

    /// The name of the store or tier that keeps it.
    public var tier: String { found.tier }

    /// Its age now. The age of a copy from the future is negative.
    public var age: Duration { found.entry.metadata.age(at: world.now) }

    /// The uses that are permitted now, and the validators' reasons.
    public var permissions: Permissions { validators.permit(found.entry.metadata, for: request, at: world.now) }

    /// Returns the copy if it may be shown now for any of `uses`. Returns nil if not; ``permissions`` hold the reasons.
    ///
    /// - Parameters:
    ///   - uses: the uses that the strategy has for it.
    ///   - fellBack: whether the copy replaces a call that failed, was refused or took too long. Metrics count it as a
    ///     fallback.
    public func shown(for uses: Uses, fellBack: Bool = false) -> Loaded<Entry>? {
        let now = world.now
        let permissions = validators.permit(found.entry.metadata, for: request, at: now)
        let use = permissions.uses.intersection(uses).best
        if use.isEmpty { return nil }
        let facts = CopyFacts(
            age: found.entry.metadata.ageInNanoseconds(at: now), freshNanoseconds: permissions.freshNanoseconds,
            uses: permissions.uses, use: use)
        var shown = Loaded(
            found.entry,
            provenance: Provenance(
                in: found.tier, facts, of: request.key, load: load, by: revision, fellBack: fellBack))
        if permissions.hasReasons { shown.permissions = permissions }
        shown.isStored = isKept
        return shown
    }

    /// The window that would have been needed to show the copy on an error: see ``Validators``.
    var neededWindowOnError: Int64? {
        validators.neededWindowOnError(of: found.entry.metadata, for: request, at: world.now)
    }

    /// The entry, for ``Call/knowing(_:)``, if the origin may be asked whether it is still current; nil otherwise.
    public var revalidatable: Entry? {
        permissions.allows(.revalidation) && found.entry.metadata.hasCondition ? found.entry : nil
    }

    /// Notes in the trail that a validator refused the copy for every use in which it is shown. Copies that are only too
    /// old are not noted before the origin fails.
    ///
    /// - Parameter permissions: the permissions of the copy.
    func noteRefusalForAllUses(_ permissions: Permissions, in trail: Trail.Recorder) {
        let reasons = permissions.reasonsAgainstShowing
        if !reasons.isEmpty { trail.note(tier, .copyRefused(reasons)) }
    }

    /// Notes in the trail that the copy may not be shown when the origin fails, with the reasons. Does nothing if its
    /// refusal is noted already.
    func noteRefusal(in trail: Trail.Recorder) {
        if trail.steps.contains(where: { $0.part == tier && $0.event.kind == .copyRefused }) { return }
        trail.note(tier, .copyRefused(permissions.reasons(for: .onError)))
    }
}
