extension Policy: CustomStringConvertible, CustomReflectable {
    /// The resource, its revision and the policy in effect. `${NAME}` stands in place of each value from the
    /// environment.
    public var description: String { "policy \(resource), revision \(revision): \(tree)" }

    /// The policy's parts, as the policy has them.
    public var customMirror: Mirror {
        let parts = members.map { (label: $0.name, value: self[$0] as Any) }
        return Mirror(
            self,
            children: [
                ("resource", resource), ("file", file), ("revision", revision), ("about", about as Any),
            ] + parts + [("warnings", warnings.map(\.description))], displayStyle: .struct)
    }
}
