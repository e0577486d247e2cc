public import LarderSystem

/// The living part that a section of a policy makes for its resource, or a section of `_larder.json` for the pantry.
///
/// A section is declared with ``Plugin/section(_:_:_:counters:levels:gauges:timings:traits:make:)``. Its attachment lives as
/// long as the policy has the section with the same settings. An app gets it by its type:
/// `pantry.attachment(Outbox.self, of: "notes")`.
///
/// All methods have a default. They may be called from any thread and at the same time.
public protocol Attachment: Sendable {
    /// Returns a loader around the loader that answers the resource's requests: the strategy with its fallbacks. By
    /// default, and for a section of a pantry, this is the same loader.
    ///
    /// It is called for each graph that is composed, and only if ``SectionTraits/goesAround`` is set. The loads of the
    /// returned loader are counted and timed. If it returns the rule of `loader` (``Loader/hitRule``), copies in memory are shown at once, past it. Otherwise, it sees each load, and each is awaited.
    func around(_ loader: any Loader) -> any Loader

    /// Returns whether some work for which no user waits may call the origin on a network. By default, it may.
    ///
    /// It is asked only if ``SectionTraits/limitsBackgroundWork`` is set. Refreshes wait until all sections of the policy permit
    /// them. A load with the purpose `prefetch` fails with ``LoadError/Code/unavailable`` unless a copy answers it at once.
    /// It may be called often, so it must be quick.
    func permits(_ work: BackgroundWork, on network: NetworkState) -> Bool

    /// Tells that copies were cleared, for example after a logout. State that belongs to the selection must be gone when
    /// this returns. The clearing waits for it for ten seconds, and then throws an error that names the section.
    /// The call goes on then. Once it has returned, it is not called again for this clearing.
    ///
    /// An attachment of a resource is told of every clearing of the resource or of the whole pantry. An attachment of a
    /// pantry is told of clearings of the whole pantry.
    ///
    /// After a crash in the middle of a clearing, the attachments that hold a place (``PlacedContext/place(_:)``) are told
    /// at the next start. One that has state elsewhere, such as in a data place, takes an empty place for that.
    ///
    /// - Parameters:
    ///   - selection: what was cleared.
    ///   - discardingUnsent: whether changes that a user made and that were not sent yet are discarded as well. Otherwise
    ///     they stay, and nobody but their account may see them.
    func cleared(_ selection: Selection, discardingUnsent: Bool) async

    /// Sets gauges whose numbers are looked up and not kept in mind, such as the age of the oldest change that waits.
    ///
    /// It is called for an attachment of a resource before each dump of metrics, also after the attachment was closed. The
    /// dump waits for it.
    func measure() async

    /// Ends the attachment. It is called once: when the pantry is closed or released, or when a reload has removed the
    /// section or changed its settings.
    ///
    /// An attachment of a resource is closed after the last load that began before the reload, and when its successor
    /// exists already. An attachment of a pantry is closed after those of resources, but a reload closes it at once: uses
    /// that are under way should end first. A pantry that is closed still loads.
    func close() async
}

extension Attachment {
    /// Returns the same loader.
    public func around(_ loader: any Loader) -> any Loader { loader }

    /// Returns true.
    public func permits(_ work: BackgroundWork, on network: NetworkState) -> Bool { true }

    /// Does nothing.
    public func cleared(_ selection: Selection, discardingUnsent: Bool) async {}

    /// Does nothing.
    public func measure() async {}

    /// Does nothing.
    public func close() async {}
}
