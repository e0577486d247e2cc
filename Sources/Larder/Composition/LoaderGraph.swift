/// One policy, composed: the loaders that answer for a resource.
final class LoaderGraph: Sendable {
    let policy: Policy
    let root: any Loader
    let shelf: Shelf
    let world: any World

    init(policy: Policy, root: any Loader, shelf: Shelf, world: any World) {
        self.policy = policy
        self.root = root
        self.shelf = shelf
        self.world = world
    }
}
