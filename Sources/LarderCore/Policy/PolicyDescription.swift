extension Policy: ShownByDescription {
    /// The resource, its revision and the policy in effect. `${NAME}` stands in place of each value from the
    /// environment.
    public var description: String { "policy \(resource), revision \(revision): \(tree)" }
}
