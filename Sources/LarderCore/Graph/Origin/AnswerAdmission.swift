import LarderSystem

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
        // Few payloads are large, and the others need not wait.
        if loaded.value.payload.size < Payload.largeSize {
            return try receiveAtOnce(&loaded, from: arrival, for: call, in: world)
        }
        let now = world.now
        let arrival = date(&loaded, arrival: arrival, call: call, at: now, in: world)
        let admission: Admission
        do {
            admission = try await admit(&loaded.value, from: arrival, for: call.request, in: world)
        } catch {
            throw LoadError.refused(error)
        }
        try finish(&loaded, arrival: arrival, call: call, at: now)
        return admission
    }

    /// Does the same as ``receive(_:from:for:in:)`` without leaving the thread, whatever the size of the payload.
    func receiveAtOnce(
        _ loaded: inout Loaded<Entry>, from arrival: Arrival, for call: Call, in world: any World
    ) throws(LoadError) -> Admission {
        let now = world.now
        let arrival = date(&loaded, arrival: arrival, call: call, at: now, in: world)
        let admission: Admission
        do {
            admission = try admit(&loaded.value, from: arrival, for: call.request)
        } catch {
            throw LoadError.refused(error)
        }
        try finish(&loaded, arrival: arrival, call: call, at: now)
        return admission
    }

    /// Dates an answer, and returns whether it is a new payload or says that the copy is unchanged.
    private func date(
        _ loaded: inout Loaded<Entry>, arrival: Arrival, call: Call, at now: Timestamp, in world: any World
    ) -> Arrival {
        var arrival = arrival
        loaded.value.metadata.isExpired = false
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
        return arrival
    }

    /// Notes how long an answer that was admitted is fresh, and decodes it.
    private func finish(
        _ loaded: inout Loaded<Entry>, arrival: Arrival, call: Call, at now: Timestamp
    ) throws(LoadError) {
        if arrival != .fallback {
            loaded.permissions.freshFor = permit(loaded.value.metadata, for: call.request, at: now).freshFor
        }
        do {
            try loaded.value.payload.decode(with: call.codec)
        } catch {
            throw LoadError.undecodable(error)
        }
    }
}

extension LoadError {
    /// The failure of an origin whose payload a validator refuses.
    fileprivate static func refused(_ refusal: Refusal) -> LoadError {
        LoadError(.refused, "payload refused: \(refusal.reason)", origin: refusal)
    }
}

extension Loaded where Value == Entry {
    /// Returns whether the origin has confirmed the copy of a call. An answer with another payload confirms nothing,
    /// whatever it calls itself.
    func confirms(_ call: Call) -> Bool {
        source == .revalidated && call.known.map { $0.payload === value.payload } ?? false
    }
}
