/// One policy, composed: the loaders that answer for a resource.
final class LoaderGraph: Sendable {
    let policy: Policy
    let root: any Loader
    /// The live side alone, for who wants to know what the origin says and nothing else.
    let live: any Loader
    let shelf: Shelf
    /// The places that its store asked for below the cache folder.
    let places: TakenPlaces
    let validators: Validators
    /// What its parts keep across a reload.
    let keepsakes: Keepsakes
    let meter: Meter
    let world: any World

    init(
        policy: Policy, root: any Loader, live: any Loader, shelf: Shelf, places: TakenPlaces,
        validators: Validators, keepsakes: Keepsakes, meter: Meter, world: any World
    ) {
        self.policy = policy
        self.root = root
        self.live = live
        self.shelf = shelf
        self.places = places
        self.validators = validators
        self.keepsakes = keepsakes
        self.meter = meter
        self.world = world
    }
}
