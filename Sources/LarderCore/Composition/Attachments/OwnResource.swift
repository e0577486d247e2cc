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

    /// The pantry of a section of `_larder.json`, for its metrics and to reload its policies. It is nil in a section of
    /// a resource, and after the pantry was released.
    ///
    /// Ask for it at each use: a pantry that is kept stays alive. An attachment can ask until its ``Attachment/close()`` has
    /// ended. Metrics of the whole process are in a form that suits every format: ``MetricsDump/families``.
    public var ownPantry: Pantry? { resource.isEmpty ? pantry as? Pantry : nil }
}

extension Resource {
    /// Returns the attachment of this type that a section of the resource's policy has made; nil if there is none: see
    /// ``Pantry/attachment(_:of:)``. A section finds the others of its policy with it, through
    /// ``SectionContext/ownResource``.
    public func attachment<Wanted>(_ type: Wanted.Type) -> Wanted? { pantry.attachment(type, of: name) }
}
