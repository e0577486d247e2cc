// How the living parts are printed and dumped. Inside them are policies with values from the environment, which no mirror
// shows.

extension Pantry: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of its resources.
    public var description: String { "pantry of \(resources.joined(separator: ", "))" }

    /// The same as the description.
    public var debugDescription: String { description }

    /// The names of its resources, and the revisions their policies have.
    public var customMirror: Mirror {
        Mirror(self, children: resources.map { (label: $0, value: policy(of: $0)?.revision ?? "") })
    }
}

extension Resource: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Its name.
    public var description: String { "resource \(name)" }

    /// The same as the description.
    public var debugDescription: String { description }

    /// Its name and the type of its values.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name, "values": "\(Value.self)"], displayStyle: .struct)
    }
}

extension Outline: CustomStringConvertible, CustomDebugStringConvertible {
    /// The tree of lines.
    public var description: String { tree }

    /// The same as the description.
    public var debugDescription: String { description }
}
