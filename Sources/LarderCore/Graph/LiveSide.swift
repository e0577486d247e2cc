/// The live side of a graph: shares one call of the origin between equal requests, receives the answer and saves it.
///
/// This is a class because every flight and every strategy holds it.
package final class LiveSide: Loader {
    private let origin: any Loader
    private let validators: Validators
    /// Finds the copy that the origin is asked about. Nil where the strategy keeps no copies; then nothing is saved.
    private let copies: Lookup?
    private let storeAccess: StoreAccess
    private let world: any World
    let meter: Meter
    /// The fields that the origin adds to requests that lack them. Answers may vary by them, too.
    let addedFields: Fields
    /// A hash of the declarations of the origin, the wrappers and the validators. Only callers with the same hash share
    /// a flight.
    let declaration: Int
    /// - Parameter origin: the origin with the wrappers around it.
    init(
        _ origin: any Loader, validators: Validators, copies: Lookup?, addedFields: Fields, storeAccess: StoreAccess,
        declaration: Int, world: any World, meter: Meter
    ) {
        self.origin = origin
        self.validators = validators
        self.copies = copies
        self.addedFields = addedFields
        self.storeAccess = storeAccess
        self.declaration = declaration
        self.world = world
        self.meter = meter
    }

    // MARK: Sharing

    /// Joins the call under way, or starts one.
    ///
    /// - Parameter isPatient: whether the caller has nothing to do but wait for the call. The call then begins on its
    ///   thread, which spares waking another one.
    func join(_ call: Call, isPatient: Bool = false) -> LiveCall {
        storeAccess.flights.join(call, of: self, beginsOnCaller: isPatient || origin.keepsLimit)
    }

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        try await load(call, linger: .seconds(60))
    }

    /// Returns the call's answer. At the caller's deadline the wait ends, and the call goes on for others, at most
    /// `linger`.
    func load(_ call: Call, linger: Duration) async throws -> Loaded<Entry> {
        let joined = join(call, isPatient: call.deadline == nil)
        do {
            if let loaded = try await joined.value(within: call.deadline.map { $0 - world.uptime }) { return loaded }
        } catch is AnotherVariant {
            return try await load(call.afterMismatch, linger: linger)
        }
        joined.goOn(for: linger)
        throw LoadError.overdue
    }

    // MARK: The shared call

    /// Asks the origin and saves its answer. A flight calls this once, for all its callers.
    func ask(_ call: Call) async throws -> Flight.Received {
        guard let copies else {
            let received = try await receive(call)
            await storeAccess.place(
                of: received.loaded.value, for: call.request, adding: addedFields, isSaved: false,
                isKept: received.admission == .keep)
            return received
        }
        let ticket = call.ticket ?? storeAccess.order.begin(call.key)
        let known = call.hasLooked ? call.known : await copy(for: call, among: copies)
        let permissions = known.map { self.permissions(of: $0, for: call.request) }
        let asked = world.now
        let entryKey = storeAccess.variations.entryKey(of: call.request, adding: addedFields)
        var received = try await answer(to: call.knowing(known), ticket)
        received.loaded.provenance.known = permissions.map { $0.allows(.fresh) ? .fresh : .stale } ?? .none
        call.arrived?(received.loaded, received.admission)
        let entry = received.loaded.value
        let isUnchanged = received.loaded.source == .revalidated
        if let known, let fresh = permissions?.freshNanoseconds, fresh >= 0 {
            let age = known.metadata.ageInNanoseconds(at: asked)
            // The age of a copy from the future is not known.
            if age >= 0 { meter.asked(isUnchanged: isUnchanged, sinceFresh: age - fresh) }
        } else if known == nil, let evicted = storeAccess.evictedKeys.take(entryKey, in: world),
            evicted.isFresh(at: asked, for: self.permissions(of: entry, for: call.request))
        {
            meter.evictedTooSoon(missing: evicted.missing, times: evicted.times)
        }
        switch received.admission {
        case .keep:
            received.loaded.isStored = await storeAccess.save(
                entry, for: call.request, adding: addedFields, ticket, isUnchanged: isUnchanged, call.trail)
        case .useOnly:
            await storeAccess.leaveUnsaved(
                entry, for: call.request, adding: addedFields, ticket, isUnchanged: isUnchanged, call.trail)
        }
        entry.payload.releaseFile()
        return received
    }

    /// Returns the copy that the origin is asked about. Lower tiers are not searched: any copy serves for that.
    private func copy(for call: Call, among copies: Lookup) async -> Entry? {
        guard let copy = try? await copies.copy(for: call.knowing(nil)) else { return nil }
        return copy.revalidatable
    }

    /// Returns the permissions of a copy, whatever the wishes of the request.
    private func permissions(of copy: Entry, for request: Request) -> Permissions {
        var request = request
        request.details = nil
        return validators.permit(copy.metadata, for: request, at: world.now)
    }

    /// Returns the end of the freshness of an answer; nil if no validator sets it.
    func freshUntil(_ loaded: Loaded<Entry>, for request: Request) -> Timestamp? {
        let (now, age) = (world.now, loaded.value.metadata.age(at: world.now))
        return permissions(of: loaded.value, for: request).freshFor.map { now - age + $0 }
    }

    /// Returns the origin's answer, and notes whether the origin failed. A copy that the origin calls gone is dropped.
    private func answer(
        to call: Call, _ ticket: Ticket
    ) async throws -> Flight.Received {
        do {
            let answer = try await receive(call)
            storeAccess.backOff.succeeded(call.key)
            return answer
        } catch {
            guard let failure = LoadError.meaning(of: error) else { throw error }
            switch failure.code {
            case .answer: storeAccess.backOff.succeeded(call.key)
            // This says nothing about the origin.
            case .notSignedIn: break
            default: storeAccess.backOff.failed(call.key, in: world)
            }
            if failure.saysGone { await storeAccess.drop(call.request, adding: addedFields, ticket, call.trail) }
            throw error
        }
    }

    private func receive(_ call: Call) async throws -> Flight.Received {
        var loaded = try await origin.load(call)
        let admission = try await validators.receive(&loaded, from: .origin, for: call, in: world)
        return Flight.Received(loaded: loaded, admission: admission)
    }
}
