extension Resource {
    /// Marks the copy of one instance as expired: the next load asks the origin, and the copy is shown only when the
    /// origin fails. Running calls for it save nothing, because their answers may be older than what the app knows.
    ///
    /// If its answers vary by fields of the request, all variants are expired.
    ///
    /// - Throws: the error of the store. Its `StoreError.isUnsupported` is set if the store cannot list its entries.
    ///   The store lists them for all selections but that of one instance whose answers do not vary.
    public func expire(_ parameters: Parameters, scope: String? = nil) async throws {
        try await expire(.key(request(parameters, scope: scope).key))
    }

    /// Marks the selected copies of this resource as expired: all of them, those of one account, or those with a tag.
    /// See ``expire(_:scope:)``.
    ///
    /// - Throws: the error of the store.
    public func expire(_ selection: Selection = .all) async throws {
        _ = try graph()
        try await resourceState.expire(selection)
    }
}

extension Pantry {
    /// Marks the selected copies of every resource as expired: all of them, those of one account, or those with a tag.
    /// The next loads ask the origin, and the copies are shown only when the origin fails. Running calls save nothing
    /// that is selected, because their answers may be older than what the app knows.
    ///
    /// Copies of resources that no policy names stay as they are.
    ///
    /// - Throws: ``LoadError`` naming the resources whose store failed, after all stores were tried.
    public func expire(_ selection: Selection = .all) async throws {
        var failed: [String] = []
        var first: (any Error)?
        for state in resourceStates {
            do {
                try await state.expire(selection)
            } catch {
                failed.append(state.name)
                first = first ?? error
            }
        }
        guard let first else { return }
        var error = LoadError(.failed, "not expired: \(failed.joined(separator: ", "))")
        error.store = first
        throw error
    }
}
