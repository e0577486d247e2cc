import LarderSystem

/// An attachment that is in use: by graphs, by running loads, or by the pantry. It is closed when nothing uses it.
final class HeldAttachment: Sendable {
    /// The section, as the policy or `_larder.json` has it.
    let part: Part
    /// The resource; nil if it belongs to the pantry.
    let resource: String?
    /// The identity of its declaration: see ``PartIdentity/fingerprint``.
    let fingerprint: Int
    /// The attachment; nil if its place could not be used and the pantry goes on without it.
    let attachment: (any Attachment)?
    /// The state that its parts keep.
    let state: ReloadState
    /// The places that it requested.
    let places: HeldPlaces
    /// The meter that it counts with.
    let meter: CurrentMeter
    private let openAttachments: OpenAttachments
    /// Its number among the attachments in use; nil if there is no attachment.
    private let number: Int?

    /// Makes the attachment of a section.
    ///
    /// - Parameters:
    ///   - context: the context of the resource or of the pantry.
    ///   - source: the source of its places.
    /// - Throws: the error of the plugin.
    init(
        of part: Part, resource: String?, in context: Context, source: PlaceSource, openAttachments: OpenAttachments
    ) throws {
        let identity = PartIdentity(part: part)
        let context = context.ofSection(identity, source)
        self.part = part
        self.resource = resource
        self.openAttachments = openAttachments
        fingerprint = identity.fingerprint
        state = context.reloadState
        places = source.taken
        meter = context.currentMeter ?? CurrentMeter(context.meter)
        do {
            let attachment = try part.attachment(in: context)
            let number = openAttachments.add(attachment, of: part, resource: resource, places: source.taken)
            do { try part.check(attachment) } catch {
                // It may have begun its work.
                openAttachments.close(number)
                throw error
            }
            (self.attachment, self.number) = (attachment, number)
        } catch {
            guard source.ifUnusable == .goOn, source.isRequested.withLock({ $0 }), !(error is Registry.Conflict) else {
                throw error
            }
            source.taken.add(
                CacheProblem(section: part.plugin.name, of: resource, reason: StoreError.reason(for: error)))
            (attachment, number) = (nil, nil)
        }
    }

    deinit { if let number { openAttachments.close(number) } }

    /// Returns the attachment if it has this type.
    func attachment<Wanted>(as type: Wanted.Type) -> Wanted? { attachment as? Wanted }
}

/// The meter of the graph that is in effect. An attachment outlives graphs, and so it counts through this.
final class CurrentMeter: Sendable {
    private let state: Locked<Meter>

    init(_ meter: Meter) {
        state = Locked(meter)
    }

    var meter: Meter { state.withLock { $0 } }

    func change(to meter: Meter) { state.withLock { $0 = meter } }
}
