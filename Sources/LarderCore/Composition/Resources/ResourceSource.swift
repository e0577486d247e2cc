extension Resource {
    /// The marks of where the resource's data comes from: first that of the present origin, then those of the earlier ones
    /// that gave the same data. A mark is a digest, and names nothing. Empty if the policy has no origin.
    ///
    /// A part that keeps data of a service by itself, as a section can, keeps the mark with it. It must not use data of any
    /// other mark. A reload may change the marks, so ask for them at each use.
    ///
    /// - Throws: ``LoadError`` if there is no such resource.
    public var sourceMarks: [String] {
        get throws(LoadError) {
            try graph().sourceMarks.value
        }
    }
}

extension Resource {
    /// Returns whether the policy's origin takes a parameter of this name. A request with one that it does not take fails with
    /// ``LoadError/Code/invalidRequest``. False if there is no origin.
    public func originTakes(_ parameter: String) -> Bool {
        guard let origin = try? graph().policy.origin else { return false }
        return origin.originTraits.parameters?.contains(parameter) ?? true
    }
}
