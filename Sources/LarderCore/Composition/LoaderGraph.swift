import LarderSystem

/// A composed policy: the loaders that answer the requests for a resource.
final class LoaderGraph: Sendable {
    let policy: Policy
    let sourceMarks: SourceMarks
    let root: any Loader
    /// The way to a copy in memory that passes no loader; nil if there is none.
    let directHit: DirectHit?
    /// The cached side.
    let lookup: Lookup
    /// The live side alone, for callers that want the origin's answer and nothing else.
    let live: any Loader
    /// Makes a refresh that has waited for a network.
    let refreshNow: @Sendable (_ call: Call, _ limit: Duration) async -> Void
    /// The way to the origin of requests that change something there.
    let sender: Sender
    /// The way to the origin of the lookups of sections.
    let fetcher: Fetcher
    /// Returns the copies that a change has put out of date by the rules of the origin; nil if it has no such rules.
    let invalidates: (@Sendable (_ change: Request, _ method: String, _ answer: Metadata) -> [Selection])?
    let storeAccess: StoreAccess
    /// The places below the cache folder that its store uses.
    let places: HeldPlaces
    let validators: Validators
    /// The state of its parts that survives a reload.
    let reloadState: ReloadState
    /// The state of its store's parts. It is dropped with the store.
    let storeState: ReloadState
    /// The attachments of the policy's sections.
    let attachments: [HeldAttachment]
    /// The rules about background work.
    let background: BackgroundRules
    /// Returns the account that is the scope of requests without one; nil if the origin does not sign its calls.
    let account: (@Sendable () -> String?)?
    let meter: Meter
    let world: any World

    init(
        policy: Policy, root: any Loader, lookup: Lookup, live: any Loader,
        refreshNow: @escaping @Sendable (_ call: Call, _ limit: Duration) async -> Void,
        origin: OriginAccess,
        storeAccess: StoreAccess,
        places: HeldPlaces, validators: Validators, reloadState: ReloadState, storeState: ReloadState,
        attachments: [HeldAttachment], background: BackgroundRules, meter: Meter, world: any World
    ) {
        self.policy = policy
        sourceMarks = SourceMarks(of: policy)
        self.root = root
        self.lookup = lookup
        self.live = live
        self.refreshNow = refreshNow
        sender = Sender(
            access: origin, isAccepted: policy.origin?.originTraits.acceptsSends == true, meter: meter)
        fetcher = Fetcher(
            access: origin, resource: policy.resource, account: policy.account, revision: meter.revision,
            checkSource: { [sourceMarks] in try sourceMarks.check($0) })
        invalidates = policy.origin?.originTraits.invalidates
        self.storeAccess = storeAccess
        self.places = places
        self.validators = validators
        self.reloadState = reloadState
        self.storeState = storeState
        self.attachments = attachments
        self.background = background
        account = policy.account
        directHit = DirectHit(past: root, meter: meter, needsScope: account != nil)
        self.meter = meter
        self.world = world
    }

    /// Returns the call for a load that begins now.
    func call(for request: Request, codec: AnyCodec) -> Call {
        var call = Call(prepared(request), codec: codec)
        call.deadline = request.deadline.map { world.uptime + $0 }
        call.ticket = storeAccess.keys.begin(request.key)
        return call
    }

    /// Returns a request that knows which fields the origin adds to it.
    func prepared(_ request: Request) -> Request { lookup.prepared(request) }

    /// The values of the levels and gauges of its plugins.
    var values: (levels: [Level: String], gauges: [Gauge: Double]) {
        let parts = reloadState.values + storeState.values + attachments.flatMap(\.state.values)
        return (
            meter.plugins.levels.reduce(into: [:]) { $0[$1] = $1.value(in: parts) },
            meter.plugins.gauges.reduce(into: [:]) { $0[$1] = $1.value(in: parts) }
        )
    }
}
