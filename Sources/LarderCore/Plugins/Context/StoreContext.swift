package import LarderSystem

/// The surroundings of a store.
///
/// `@unchecked Sendable`: its variables are constants.
public final class StoreContext: PlacedContext, @unchecked Sendable {
    override init(_ surroundings: Surroundings, of identity: PartIdentity?, from source: PlaceSource) {
        super.init(surroundings, of: identity, from: source)
    }

    /// Makes the surroundings of a store of `resource`, for tests of plugins.
    package convenience init(
        resource: String, world: any World, cacheDirectory: String, dataDirectory: String? = nil,
        sinks: EventSinks = EventSinks()
    ) {
        let places = Places(in: cacheDirectory, isStrict: true, world: world)
        self.init(
            Surroundings(
                resource: resource, world: world, meter: CurrentMeter(Meter(sinks: sinks, world: world)),
                reloadState: ReloadState(), data: DataFolder(dataDirectory, beside: cacheDirectory),
                payloadFolder: PayloadFolder(in: places)),
            of: nil,
            from: PlaceSource(
                places: places, turns: PlaceTurns(in: world), use: StoreUse(of: resource),
                taken: HeldPlaces(isClosed: true), lateFaults: LateFaults(), ifUnusable: .fail))
    }

    /// A store that keeps nothing.
    public var emptyStore: any Store { EmptyStore() }

    /// Reports a failure of this store that came too late to be thrown, such as the failure of a write which the store
    /// had already accepted. It is counted and logged like other failures, without a load.
    ///
    /// - Parameters:
    ///   - fault: the tier that failed, and its error.
    ///   - kind: the operation that failed.
    public func storeFailed(_ fault: StoreFault, at kind: StoreFaultKey.Kind) { source.lateFaults.report(fault, kind) }

    /// Reports entries that a store has evicted by itself to the metrics and to every stream of ``Pantry/forgotten``.
    public func forgot(_ entries: @autoclosure () -> [EvictedEntry]) { tell(entries) }

    /// Reports an entry that a store has evicted by itself, as ``forgot(_:)-(()->[EvictedEntry])`` does.
    public func forgot(_ entry: @autoclosure () -> EvictedEntry) { tell { CollectionOfOne(entry()) } }

    private func tell(_ entries: () -> some Collection<EvictedEntry>) {
        let sinks = meter.sinks
        let isListenedTo = !sinks.forgotten.isEmpty
        if source.evictedKeys == nil, !isListenedTo { return }
        let entries = entries()
        source.evictedKeys?.add(entries, in: world)
        source.lateFaults.report(entries)
        if isListenedTo { for entry in entries { sinks.forgotten.send(entry) } }
    }
}
