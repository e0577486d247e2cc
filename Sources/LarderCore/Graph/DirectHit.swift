import LarderSystem

/// The way from a request to a copy in memory, which passes no loader and does not wait.
///
/// A graph has one if all its loaders state how they show copies: see ``Loader/hitRule``. A load that it does not answer is
/// awaited.
final class DirectHit: Sendable {
    private let sides: Sides
    private let lookup: Lookup
    private let rule: HitRule
    private let meter: Meter
    private let tier: InlineText
    private let revision: InlineText
    /// Whether hits are counted.
    private let isMeasured: Bool
    /// Whether a request without a scope belongs to the present account, which only the app knows.
    private let needsScope: Bool
    /// Whether the rule shows copies, and the names of the tier and the revision are short.
    private let isSimple: Bool
    /// Whether it is simple and needs no scope.
    private let isOpen: Bool

    /// Returns nil if not all loaders of the graph have a rule.
    init?(past root: any Loader, meter: Meter, needsScope: Bool) {
        guard let rule = root.hitRule, let sides = rule.sides as? Sides, let lookup = rule.sides.cached as? Lookup
        else { return nil }
        let (tier, revision) = (InlineText(lookup.peekedTier), InlineText(lookup.revision))
        isSimple = !rule.uses.isEmpty && tier != nil && revision != nil
        (self.tier, self.revision) = (tier ?? InlineText(), revision ?? InlineText())
        self.sides = sides
        self.lookup = lookup
        self.rule = rule
        self.meter = meter
        isMeasured = root is MeasuredLoader
        self.needsScope = needsScope
        isOpen = isSimple && !needsScope
    }

    /// Finds a copy that may be shown at once, counts the hit, and starts a refresh if the rule says so.
    ///
    /// - Parameters:
    ///   - provenance: becomes the provenance of the value.
    ///   - take: takes the value of the entry. Returns false if there is none. It is called while the store may hold a
    ///     lock.
    /// - Returns: whether there is such a copy. If not, nothing has changed, and
    ///   ``unusualAnswer(_:codec:provenance:take:)`` must be asked.
    @inline(__always)
    func answer(_ request: Request, codec: AnyCodec, provenance: inout Provenance, take: (Entry) -> Bool) -> Bool {
        // The rest is left to `unusualAnswer`.
        guard request.isPlain, !lookup.hasExceptions, meter.sinks.loads.isEmpty,
            isOpen || isSimple && request.key.scope != nil
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

    // MARK: The rest

    /// Finds a copy for an unusual request or under an unusual key, for those who listen, and while the origin is not called.
    @inline(never)
    func unusualAnswer(
        _ request: Request, codec: AnyCodec, provenance: inout Provenance, take: (Entry) -> Bool
    ) -> Bool {
        guard mayDiffer(request), request.mode != .refresh, !needsScope || request.key.scope != nil,
            let key = lookup.keyToShow(for: request)
        else { return false }
        let uses = request.mode == .cachedOnly ? .showing : rule.uses
        var answer = uses.isEmpty ? nil : shown(request, at: key, for: uses, take: take)
        if let answer, request.mode == .normal, rule.wantsRefresh(of: answer.provenance.copyFacts) {
            rule.refresh(Call(request, codec: codec))
        }
        if answer == nil, request.mode == .normal, let pause = sides.pause(at: request.key) {
            answer = shown(request, at: key, for: Sides.standingIn, take: take)
            if answer != nil {
                sides.shows(request, codec: codec, during: pause)
                answer?.provenance.standIn(after: Trail.Step("origin", pause.event))
            }
        }
        guard let answer else { return false }
        if isMeasured { count(answer, for: request, codec: codec) }
        provenance = answer.provenance
        provenance.hold(answer.content.metadata)
        return true
    }

    /// Returns whether there may be a copy to show that ``answer(_:codec:provenance:take:)`` does not find.
    private func mayDiffer(_ request: Request) -> Bool {
        if !request.isPlain || lookup.hasExceptions || !isSimple || !meter.sinks.loads.isEmpty || meter.logsDecisions {
            return true
        }
        let keys = lookup.storeAccess.keys
        return keys.hasPrefetches || keys.hasFailures || sides.isOffline
    }

    private func shown(_ request: Request, at key: Key, for uses: Uses, take: (Entry) -> Bool) -> Loaded<Entry>? {
        var (found, copy) = (Entry?.none, CopyFacts())
        let reasons = lookup.hit(request, at: key, for: uses, copy: &copy) { entry in
            found = entry
            return take(entry)
        }
        guard copy.isFound, let found else { return nil }
        var provenance = Provenance(in: lookup.peekedTier, copy, of: request.key, by: lookup.revision)
        if let reasons { provenance.state(reasons) }
        return Loaded(found, provenance: provenance)
    }

    private func count(_ answer: Loaded<Entry>, for request: Request, codec: AnyCodec) {
        if answer.content.metadata.isUnusedPrefetch, request.purpose == .user {
            lookup.storeAccess.usedPrefetch(answer.content, for: lookup.prepared(request))
        }
        if request.isCountedApart {
            meter.count(request.counterApart)
        } else if answer.provenance.isHit {
            meter.hit(answer.copyFacts, hash: request.key.hash)
        } else {
            meter.ended(answer, hash: request.key.hash, after: .zero)
        }
        if meter.isReported(plain: answer.provenance.isPlain) {
            meter.send(
                LoadReport(
                    Call(request, codec: codec), .success(answer), revision: meter.revision, began: sides.world.now,
                    took: .zero))
        }
    }
}

extension Sides {
    /// Notes that a copy is shown while the origin is not called.
    fileprivate func shows(_ request: Request, codec: AnyCodec, during pause: OriginPause) {
        if pause.isSlow, !request.isCountedApart { meter.shownWhileSlow() }
        if pause.isOffline { refreshLater(Call(request, codec: codec)) }
    }
}
