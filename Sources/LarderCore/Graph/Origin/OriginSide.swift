import LarderSystem

/// The live side of a graph: shares one call of the origin between equal requests, receives the answer and saves it.
///
/// This is a class because every flight and every strategy holds it.
package final class OriginSide: Loader {
    private let origin: any Loader
    private let validators: Validators
    /// Finds the copy that the origin is asked about.
    private let lookup: Lookup
    /// Whether answers are saved. If not, the strategy keeps no copies, and none is looked for.
    private let saves: Bool
    let storeAccess: StoreAccess
    let world: any World
    let meter: Meter
    /// A hash of the declarations of the origin, the wrappers and the validators. Only callers with the same hash share
    /// a flight.
    let declaration: Int

    /// - Parameter origin: the origin with the wrappers around it.
    init(
        _ origin: any Loader, validators: Validators, lookup: Lookup, saves: Bool, storeAccess: StoreAccess,
        declaration: Int, world: any World, meter: Meter
    ) {
        self.origin = origin
        self.validators = validators
        self.lookup = lookup
        self.saves = saves
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
        join(call, beginsOnCaller: isPatient || origin.keepsLimit)
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

    // These functions wait, so they have little else in their frames: see ``MeasuredLoader``.

    /// Asks the origin and saves its answer. A flight calls this once, for all its callers.
    ///
    /// - Parameter ticket: the ticket of the call.
    func ask(_ call: Call, ticket: Ticket) async throws -> Flight.Received {
        guard saves else { return try await askOnly(call) }
        let call = await withCopy(call)
        let question = question(about: call, ticket: ticket)
        do {
            return try await kept(try await origin.load(call), of: call, after: question)
        } catch {
            throw await failed(call, ticket: ticket, error: error)
        }
    }

    /// Receives an answer and saves it.
    ///
    /// - Throws: ``LoadError`` if a validator refuses it.
    @inline(never)
    private func kept(
        _ loaded: Loaded<Entry>, of call: Call, after question: Question
    ) async throws -> Flight.Received {
        if !loaded.isLarge { return await saved(try receivedAtOnce(loaded, call), of: call, after: question) }
        return await saved(try await received(loaded, call), of: call, after: question)
    }

    /// Hands an answer on, and saves it if it may be kept.
    @inline(never)
    private func saved(
        _ received: Flight.Received, of call: Call, after question: Question
    ) async -> Flight.Received {
        var received = received
        take(&received, call: call, question: question)
        let isUnchanged = received.loaded.source == .revalidated
        switch received.admission {
        case .keep:
            received.loaded.isStored = await storeAccess.save(
                received.loaded.content, for: call.request, ticket: question.ticket, isUnchanged: isUnchanged,
                trail: call.trail)
        case .useOnly:
            await leaveUnsaved(
                received.loaded.content, isUnchanged: isUnchanged, call: call, ticket: question.ticket)
        }
        received.loaded.content.payload.releaseFile()
        return received
    }

    /// Returns the call with the copy that the origin is asked about.
    @inline(never)
    private func withCopy(_ call: Call) async -> Call {
        call.hasLooked ? call : call.knowing(copy: await copy(for: call))
    }

    /// Returns the copy that the origin is asked about. Lower tiers are not searched: any copy serves for that.
    @inline(never)
    private func copy(for call: Call) async -> Call.Copy? {
        do { return try await lookup.copy(for: call.knowing(nil)).revalidatable.map(Call.Copy.init) } catch {
            return nil
        }
    }

    /// Asks the origin and saves nothing.
    @inline(never)
    private func askOnly(_ call: Call) async throws -> Flight.Received {
        let loaded = try await origin.load(call)
        let received = try await received(loaded, call)
        await storeAccess.place(
            of: received.loaded.value, for: call.request, isSaved: false,
            isKept: received.admission == .keep)
        return received
    }

    /// The facts about a call that are noted before the origin is asked.
    private struct Question {
        /// The permissions of the copy that the origin is asked about; nil if there is none.
        var permissions: Permissions?
        var asked: Timestamp
        var entryKey: Key
        /// The order of the call among the clearings and writes of its key.
        var ticket: Ticket
    }

    @inline(never)
    private func question(about call: Call, ticket: Ticket) -> Question {
        Question(
            permissions: call.known.map { permissions(of: $0, for: call.request) }, asked: world.now,
            entryKey: storeAccess.variations.entryKey(of: call.request), ticket: ticket)
    }

    /// Hands an answer on to those who wait for it, and counts the calls that a longer freshness or a larger store would
    /// have saved.
    @inline(never)
    private func take(_ received: inout Flight.Received, call: Call, question: Question) {
        storeAccess.keys.originAnswered(call.key)
        if call.request.purpose == .prefetch, received.loaded.source != .revalidated {
            received.loaded.content.metadata.isUnusedPrefetch = true
        }
        received.loaded.provenance.known = question.permissions.map { $0.allows(.fresh) ? .fresh : .stale } ?? .none
        call.shared?.arrived(received.loaded, received.admission)
        if let known = call.known {
            guard let fresh = question.permissions?.freshNanoseconds, fresh >= 0 else { return }
            let age = known.metadata.ageInNanoseconds(at: question.asked)
            // The age of a copy from the future is not known.
            if age < 0 { return }
            meter.asked(isUnchanged: received.loaded.source == .revalidated, sinceFresh: age - fresh)
        } else if let evicted = storeAccess.evictedKeys.take(question.entryKey, in: world),
            evicted.isFresh(at: question.asked, for: permissions(of: received.loaded.content, for: call.request))
        {
            meter.evictedTooSoon(missing: evicted.missing, times: evicted.times)
        }
    }

    @inline(never)
    private func leaveUnsaved(_ entry: Entry, isUnchanged: Bool, call: Call, ticket: Ticket) async {
        await storeAccess.leaveUnsaved(
            entry, for: call.request, ticket: ticket, isUnchanged: isUnchanged, trail: call.trail)
    }

    /// Returns the permissions of a copy, whatever the wishes of the request.
    private func permissions(of copy: Entry, for request: Request) -> Permissions {
        if request.details == nil { return validators.permit(copy.metadata, for: request, at: world.now) }
        var request = request
        request.noOlderThan = nil
        return validators.permit(copy.metadata, for: request, at: world.now)
    }

    /// Returns the end of the freshness of an answer; nil if no validator sets it.
    func freshUntil(_ loaded: Loaded<Entry>, for request: Request) -> Timestamp? {
        let (now, age) = (world.now, loaded.value.metadata.age(at: world.now))
        return permissions(of: loaded.value, for: request).freshFor.map { now - age + $0 }
    }

    /// Notes that the origin failed or sent an error that is an answer. A copy that the origin calls gone is dropped.
    ///
    /// - Returns: the error.
    @inline(never)
    private func failed(_ call: Call, ticket: Ticket, error: any Error) async -> any Error {
        guard let failure = LoadError.meaning(of: error) else { return error }
        switch failure.code {
        case .answer: storeAccess.keys.originAnswered(call.key)
        // This says nothing about the origin.
        case .notSignedIn, .invalidRequest: break
        default: storeAccess.keys.originFailed(call.key, with: failure, in: world)
        }
        if failure.saysGone {
            call.shared?.arrived(error)
            await storeAccess.drop(call.request, ticket: ticket, trail: call.trail)
        }
        return error
    }

    @inline(never)
    private func receivedAtOnce(_ loaded: Loaded<Entry>, _ call: Call) throws(LoadError) -> Flight.Received {
        var loaded = loaded
        let admission = try validators.receiveAtOnce(&loaded, from: .origin, for: call, in: world)
        return Flight.Received(loaded: loaded, admission: admission)
    }

    @inline(never)
    private func received(_ loaded: Loaded<Entry>, _ call: Call) async throws(LoadError) -> Flight.Received {
        var loaded = loaded
        let admission = try await validators.receive(&loaded, from: .origin, for: call, in: world)
        return Flight.Received(loaded: loaded, admission: admission)
    }
}

extension Loaded where Value == Entry {
    fileprivate var isLarge: Bool { content.payload.size >= Payload.largeSize }
}
