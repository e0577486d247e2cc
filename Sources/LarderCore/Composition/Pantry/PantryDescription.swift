// Descriptions and mirrors of the pantry and its handles. They hide the policies inside, which may have values from the
// environment.

extension Pantry: CustomStringConvertible, CustomReflectable {
    /// The names of the resources.
    public var description: String { "pantry of \(resources.joined(separator: ", "))" }

    /// The names of the resources and the revisions of their policies.
    public var customMirror: Mirror {
        Mirror(self, children: resources.map { (label: $0, value: policy(of: $0)?.revision ?? "") })
    }
}

extension Resource: CustomStringConvertible, CustomReflectable {
    /// The name of the resource.
    public var description: String { "resource \(name)" }

    /// The name of the resource and the type of its values.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name, "values": "\(Value.self)"], displayStyle: .struct)
    }
}
