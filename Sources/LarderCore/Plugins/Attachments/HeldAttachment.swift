/// An attachment that is in use: by graphs, by running loads, or by the pantry. It is closed when nothing uses it.
final class HeldAttachment: Sendable {
    /// The name of the section.
    let section: String
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
    /// The way to the origin for its fetches.
    let fetcher: CurrentFetcher
    private let openAttachments: OpenAttachments
    private let end: SectionEnd
    /// Its number among the attachments in use; nil if there is no attachment.
    private let number: Int?

    init(
        _ attachment: (any Attachment)?, section: String, resource: String?, fingerprint: Int, state: ReloadState,
        places: HeldPlaces, meter: CurrentMeter, fetcher: CurrentFetcher, number: Int?, end: SectionEnd,
        among openAttachments: OpenAttachments
    ) {
        self.attachment = attachment
        self.section = section
        self.resource = resource
        self.fingerprint = fingerprint
        self.state = state
        self.places = places
        self.meter = meter
        self.fetcher = fetcher
        self.number = number
        self.end = end
        self.openAttachments = openAttachments
    }

    deinit {
        end.come()
        if let number { openAttachments.close(number) }
    }

    /// Returns the attachment if it has this type.
    func attachment<Wanted>(as type: Wanted.Type) -> Wanted? { attachment as? Wanted }
}
