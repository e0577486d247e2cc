import LarderSystem

extension Composer {
    /// Returns the attachments of some sections: those of the former graph whose declarations did not change, and new
    /// ones for the others.
    ///
    /// - Parameter resource: the resource; nil for the sections of the pantry.
    /// - Throws: the error of a plugin.
    func attachments(
        of sections: [Part], of resource: String?, after former: [HeldAttachment], in surroundings: Surroundings
    ) throws -> [HeldAttachment] {
        try sections.map { section in
            let fingerprint = PartIdentity(part: section).fingerprint
            if let kept = former.first(where: { $0.fingerprint == fingerprint }), !isRepaired(kept.places) {
                return kept
            }
            return try attach(section, to: resource, in: surroundings)
        }
    }

    /// Makes the attachment of a section.
    ///
    /// - Throws: the error of the plugin.
    private func attach(
        _ section: Part, to resource: String?, in surroundings: Surroundings
    ) throws -> HeldAttachment {
        let (name, identity) = (section.plugin.name, PartIdentity(part: section))
        let own = surroundings.with(ReloadState(), meter: CurrentMeter(surroundings.meter.meter))
        let source = PlaceSource(
            places: places, turns: turns, use: StoreUse(of: resource ?? ""), taken: HeldPlaces(),
            lateFaults: LateFaults(), ifUnusable: ifCacheUnusable, section: name)
        let context = SectionContext(own, of: identity, from: source)
        func held(_ attachment: (any Attachment)?, _ number: Int?) -> HeldAttachment {
            HeldAttachment(
                attachment, section: name, resource: resource, fingerprint: identity.fingerprint,
                state: own.reloadState, places: source.taken, meter: own.meter, fetcher: context.fetcher,
                number: number,
                end: context.end, among: openAttachments)
        }
        do {
            let attachment = try section.attachment(in: context)
            let number = openAttachments.add(attachment, of: name, resource: resource, places: source.taken)
            do { try section.check(attachment) } catch {
                // It may have begun its work.
                openAttachments.close(number)
                throw error
            }
            return held(attachment, number)
        } catch {
            context.end.come()
            guard source.ifUnusable == .goOn, source.isRequested.withLock({ $0 }), !(error is Registry.Conflict) else {
                throw error
            }
            source.taken.add(CacheProblem(section: name, of: resource, reason: StoreError.reason(for: error)))
            return held(nil, nil)
        }
    }
}

extension Policy {
    /// Returns those attachments that limit background work.
    func ruling(among attachments: [HeldAttachment]) -> [HeldAttachment] {
        let names = sections.filter(\.sectionTraits.limitsBackgroundWork).map(\.plugin.name)
        return attachments.filter { names.contains($0.section) }
    }
}

extension LoaderGraph {
    /// The problems of its places.
    var problems: [CacheProblem] { places.problems + attachments.flatMap(\.places.problems) }
}

extension Pantry {
    /// Returns the attachments of the sections in `_larder.json`: the present ones if no section changed, or else those
    /// that are about to take effect.
    ///
    /// - Throws: ``PolicyError`` if one cannot be made.
    func attachments(for settings: ProcessSettings) throws(PolicyError) -> PantryAttachments {
        let present = attachments.withLock { $0 }
        let surroundings = Surroundings(
            resource: "", world: world, meter: CurrentMeter(Meter(sinks: sinks, world: world)),
            reloadState: ReloadState(), data: composer.data, payloadFolder: composer.payloadFolder,
            shared: composer.shared, owner: composer.pantry)
        let former = present.all
        do {
            let next = try composer.attachments(of: settings.sections, of: nil, after: former, in: surroundings)
            return next.elementsEqual(former, by: ===) ? present : PantryAttachments(next)
        } catch {
            throw Composer.failure(error, in: folder + "/" + ProcessSettings.file)
        }
    }

    /// Returns the sections of a resource's policy that limit background work.
    package func sectionsWithRules(of resource: String) -> [(name: String, attachment: any Attachment)] {
        guard let graph = graph(of: resource) else { return [] }
        return graph.policy.ruling(among: graph.attachments)
            .compactMap { held in held.attachment.map { (held.section, $0) } }
    }

    /// Puts attachments in effect for all parts, also for those that were made before.
    func putInEffect(_ next: PantryAttachments) {
        let former = attachments.withLock { present in
            defer { present = next }
            return present
        }
        if former === next { return }
        let left = Set(former.all.map { CacheProblem.part(section: $0.section) })
        former.giveWay(to: next)
        let problems = next.all.flatMap(\.places.problems)
        for part in left.subtracting(problems.map(\.part)).sorted() { self.problems.end(part, of: nil) }
        for problem in problems { self.problems.begin(problem) }
    }

    /// The places that attachments requested.
    var attachmentPlaces: Set<PlaceName> {
        let shared = attachments.withLock { $0 }.all
        return (graphs.flatMap(\.attachments) + shared).reduce(into: []) { $0.formUnion($1.places.names) }
    }

    /// Returns the attachment of this type that a section of a resource's policy has made; nil if there is none. If
    /// several have this type, returns the first one in the order of registration.
    ///
    /// It follows reloads: keep the pantry and ask again, because a section whose settings change gets a new attachment.
    public func attachment<Wanted>(_ type: Wanted.Type, of resource: String) -> Wanted? {
        graph(of: resource)?.attachments.lazy.compactMap { $0.attachment(as: type) }.first
    }

    /// Returns the attachment of this type that a section of `_larder.json` has made for the whole pantry; nil if there
    /// is none.
    public func attachment<Wanted>(_ type: Wanted.Type) -> Wanted? {
        attachments.withLock { $0 }.all.lazy.compactMap { $0.attachment(as: type) }.first
    }
}
