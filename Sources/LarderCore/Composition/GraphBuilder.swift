import LarderSystem

/// Makes the loaders of one plan: one for each layer, and no others.
struct GraphBuilder {
    let surroundings: Surroundings
    let storeAccess: StoreAccess
    let validators: Validators
    let lookup: Lookup
    /// The attachments of the policy's sections.
    let attachments: [HeldAttachment]
    /// The rules about background work.
    let background: BackgroundRules
    /// The parameters that the origin takes and needs; nil if those of loads are not checked.
    let parameters: OriginParameters?
    /// Returns the loader that replaces the policy's own origin; nil if none does.
    let substitute: (() -> any Loader)?
    /// The live side, or the loader of the section that answers loads. It is set when that part is made.
    private(set) var live: any Loader = UnusedSide()
    /// Whether the origin is called while the device has no network.
    private var worksOffline = false
    /// The origin with the wrappers around it; nil if the policy does not use an origin.
    private(set) var origin: (any Loader)?
    /// The sides of the strategy. They are set when the strategy is made.
    private(set) var sides: Sides?

    private var world: any World { surroundings.world }
    private var meter: Meter { surroundings.meter.meter }

    init(
        surroundings: Surroundings, storeAccess: StoreAccess, validators: Validators, lookup: Lookup,
        attachments: [HeldAttachment], background: BackgroundRules,
        parameters: OriginParameters?, substitute: (() -> any Loader)?
    ) {
        self.surroundings = surroundings
        self.storeAccess = storeAccess
        self.validators = validators
        self.lookup = lookup
        self.attachments = attachments
        self.background = background
        self.parameters = parameters
        self.substitute = substitute
    }

    /// Returns the loader of a layer. The loaders inside it are made first.
    ///
    /// - Throws: the error of a plugin whose part cannot be made.
    mutating func loader(of layer: Plan.Layer) throws -> any Loader {
        switch layer {
        case .measured(let inner):
            return MeasuredLoader(
                inner: try loader(of: inner), meter: meter, world: world, parameters: parameters,
                prefetches: storeAccess, kept: attachments)
        case .attached(let part, let inner):
            let inner = try loader(of: inner)
            return attachments.first { $0.section == part.plugin.name }?.attachment?.around(inner) ?? inner
        case .networkRules(let inner):
            return NetworkRules(inner: try loader(of: inner), background: background)
        case .fallback(let first, let others):
            let first = try loader(of: first)
            return FallbackLoader(
                first: first, others: try others.map { ($0.name, try loader(of: $0.layer)) }, validators: validators,
                world: world)
        case .strategy(let part, let live, let cached):
            return try strategy(part, live: live, cached: cached)
        case .answering(let part, let origin):
            self.origin = try origin.map { try loader(of: $0) }
            let name = part.plugin.name
            let attachment = attachments.first { $0.section == name }?.attachment(as: (any AnsweringAttachment).self)
            live = AnsweringLoader(section: name, loader: attachment?.loader)
            return live
        case .live(let inner, let isSaved, let declaration):
            let origin = try loader(of: inner)
            self.origin = origin
            return OriginSide(
                origin, validators: validators, lookup: lookup, saves: isSaved, storeAccess: storeAccess,
                declaration: declaration, world: world, meter: meter)
        case .wrapper(let part, let identity, let inner):
            return try part.wrapper(around: try loader(of: inner), in: Context(surroundings, of: identity))
        case .measuredOrigin(let part):
            worksOffline = part.originTraits.worksOffline
            return MeasuredOrigin(try substitute?() ?? origin(part), meter: meter, world: world)
        case .origin(let part):
            return try origin(part)
        case .lookup:
            return lookup
        }
    }

    private mutating func strategy(_ part: Part, live: Plan.Layer?, cached: Plan.Layer?) throws -> any Loader {
        if let live { self.live = try loader(of: live) }
        let sides = Sides(
            live: self.live, cached: try cached.map { try loader(of: $0) } ?? UnusedSide(),
            rest: part.strategyTraits.rest ?? .zero,
            usesNetworkState: part.strategyTraits.usesNetworkState && !worksOffline,
            background: background, world: world, storeAccess: storeAccess, meter: meter,
            scope: Context(surroundings, of: PartIdentity(part: part)))
        self.sides = sides
        return ModeSwitch(try part.strategy(over: sides), sides: sides)
    }

    private func origin(_ part: Part) throws -> any Loader {
        try part.origin(in: Context(surroundings, of: PartIdentity(part: part)))
    }
}
