/// What a plugin is told of the place it is used in.
public struct Context: Sendable {
    /// The resource it is composed for.
    public let resource: String
    /// Time, randomness, background work and blocking I/O: the only ones there are.
    public let world: any World
    /// The full path of the folder that this resource may write to. It need not exist yet.
    public let cacheDirectory: String
    /// The plugins there are.
    public let registry: Registry
    let meter: Meter
    private let keepsakes: Keepsakes
    private let declaration: Declaration?

    /// The place of `resource`.
    public init(resource: String, world: any World, cacheDirectory: String, registry: Registry) {
        self.init(
            resource: resource, world: world, cacheDirectory: cacheDirectory, registry: registry,
            meter: Meter(world: world), keepsakes: Keepsakes())
    }

    init(
        resource: String, world: any World, cacheDirectory: String, registry: Registry, meter: Meter,
        keepsakes: Keepsakes, declaration: Declaration? = nil
    ) {
        self.resource = resource
        self.world = world
        self.cacheDirectory = cacheDirectory
        self.registry = registry
        self.meter = meter
        self.keepsakes = keepsakes
        self.declaration = declaration
    }

    /// The same place for one part, known by its declaration.
    func of(_ declaration: Declaration) -> Context {
        Context(
            resource: resource, world: world, cacheDirectory: cacheDirectory, registry: registry, meter: meter,
            keepsakes: keepsakes, declaration: declaration)
    }

    /// Counts something that the loaders around a wrapper cannot see, such as a try after a failed one.
    public func count(_ counter: Counter, _ times: UInt64 = 1) { meter.count(counter, times) }

    /// State of this part that outlives a reload which leaves its declaration alone: what `make` gives, the first time.
    public func keep<State: Sendable>(_ make: () -> State) -> State {
        keepsakes.item(of: declaration?.fingerprint ?? 0, make)
    }
}
