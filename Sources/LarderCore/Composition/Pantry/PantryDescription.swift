// Descriptions of the pantry and its handles. They hide the policies inside, which may have values from the
// environment.

extension Pantry: ShownByDescription {
    /// The names of the resources.
    public var description: String { "pantry of \(resources.joined(separator: ", "))" }
}

extension Resource: ShownByDescription {
    /// The name of the resource.
    public var description: String { "resource \(name)" }
}
