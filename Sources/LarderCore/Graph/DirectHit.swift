/// The way from a request to a copy in memory that passes no loader.
///
/// A graph has one if all its loaders state how they answer at once: see ``Loader/hitRule``. It answers exactly as the
/// loaders would, or not at all: an unusual request or copy is left to them.
final class DirectHit: Sendable {
    private let lookup: Lookup
    private let rule: HitRule
    private let meter: Meter
    private let tier: InlineText
    private let revision: InlineText
    /// Whether hits are counted.
    private let isMeasured: Bool
    /// Whether a request without a scope belongs to the present account, which only the app knows.
    private let needsScope: Bool

    /// Returns nil if not all loaders of the graph have a rule, or if the name of the tier is too long.
    init?(past root: any Loader, meter: Meter, needsScope: Bool) {
        guard let rule = root.hitRule, let lookup = rule.sides.cached as? Lookup,
            let tier = InlineText(lookup.peekedTier), let revision = InlineText(lookup.revision)
        else { return nil }
        self.lookup = lookup
        self.rule = rule
        self.meter = meter
        (self.tier, self.revision) = (tier, revision)
        isMeasured = root is MeasuredLoader
        self.needsScope = needsScope
    }

    /// Finds a copy that may be shown at once, counts the hit, and starts a refresh if the rule says so.
    ///
    /// - Parameters:
    ///   - provenance: becomes the provenance of the value.
    ///   - take: takes the value of the entry. Returns false if there is none. It is called while the store may hold a
    ///     lock.
    /// - Returns: whether there is such a copy. If not, the loaders must be asked.
    @inline(__always)
    func answer(
        _ request: Request, codec: AnyCodec, provenance: inout Provenance, take: (Entry) -> Bool
    ) -> Bool {
        // A load of which somebody hears is left to the loaders.
        guard request.isPlain, !lookup.hasExceptions,
            meter.sinks.loads.isEmpty, !needsScope || request.key.scope != nil
        else { return false }
        var copy = CopyFacts()
        // A stale copy is logged.
        let uses = meter.logsDecisions ? rule.uses.intersection(.fresh) : rule.uses
        let reasons = lookup.hit(request, at: request.key, for: uses, leavesPrefetches: true, copy: &copy, take: take)
        guard copy.isFound else { return false }
        // This comes before the counting, so that the processor has written it when the caller reads it.
        provenance.set(in: tier, copy, by: revision)
        if let reasons { provenance.state(reasons) }
        if rule.wantsRefresh(of: copy) { rule.refresh(Call(request, codec: codec)) }
        if isMeasured { meter.hit(copy, hash: request.key.hash) }
        return true
    }
}
