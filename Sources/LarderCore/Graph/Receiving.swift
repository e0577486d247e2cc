extension Validators {
    /// Dates an answer that arrives from outside, has it admitted, and decodes it.
    ///
    /// An answer that the copy of the call is unchanged keeps the time at which the copy was fetched. An origin that
    /// says so with another payload than the copy's has sent a new payload.
    ///
    /// - Returns: whether the answer may be kept.
    /// - Throws: ``LoadError`` with the code `refused` or `undecodable`. Both count as a failure of the origin.
    func receive(
        _ loaded: inout Loaded<Entry>, from arrival: Arrival, for call: Call, in world: any World
    ) async throws(LoadError) -> Admission {
        let now = world.now
        loaded.value.metadata.isExpired = false
        var arrival = arrival
        if loaded.confirms(call), let known = call.known {
            arrival = .unchanged
            loaded.value.metadata.setTimes(fetchedAt: known.metadata.fetchedAt, validatedAt: now)
            loaded.value.metadata.spread = known.metadata.spread
        } else {
            if loaded.source == .revalidated { loaded.source = .origin }
            loaded.value.metadata.setTimes(fetchedAt: now, validatedAt: nil)
            loaded.value.metadata.spread = world.chance()
        }
        if loaded.value.metadata.initialAge > .zero { loaded.age = loaded.value.metadata.initialAge }
        let admission: Admission
        do {
            admission = try await admit(&loaded.value, from: arrival, for: call.request, in: world)
        } catch {
            throw LoadError(.refused, "payload refused: \(error.reason)", origin: error)
        }
        if arrival != .fallback {
            loaded.permissions.freshFor = permit(loaded.value.metadata, for: call.request, at: now).freshFor
        }
        do {
            try loaded.value.payload.decode(with: call.codec)
        } catch {
            throw LoadError(.undecodable, "payload does not decode", origin: error)
        }
        return admission
    }
}

extension Loaded where Value == Entry {
    /// Returns whether the origin has confirmed the copy of a call. An answer with another payload confirms nothing,
    /// whatever it calls itself.
    func confirms(_ call: Call) -> Bool {
        source == .revalidated && call.known.map { $0.payload === value.payload } ?? false
    }
}
