extension Policy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The resource, its revision and what is in effect, as it is written: `${NAME}` stands for what the environment gave.
    public var description: String { "policy \(resource), revision \(revision): \(tree)" }

    /// The same on several lines.
    public var debugDescription: String { "policy \(resource), revision \(revision): \(tree.shown.text())" }

    /// The policy's parts, as they are written.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "resource": resource, "file": file, "revision": revision, "about": about as Any,
                "origin": origin as Any,
                "around": around, "strategy": strategy, "validators": validators, "store": store as Any,
                "fallbacks": fallbacks, "warnings": warnings.map(\.description),
            ], displayStyle: .struct)
    }
}
