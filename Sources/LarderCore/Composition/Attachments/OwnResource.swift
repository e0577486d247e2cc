public import LarderFoundation

extension SectionContext {
    /// The resource of a section, for loads and clearings of its own; nil in a section of `_larder.json`, and after the pantry was released.
    ///
    /// Ask for it at each use: a handle that is kept keeps the pantry alive. Loads work once the policy is in effect, so
    /// not while the section's attachment is made. A load of its own passes the section's own loader too.
    public var ownResource: Resource<Data>? {
        guard let pantry = self.pantry as? Pantry, !resource.isEmpty else { return nil }
        return pantry.resource(resource)
    }
}
