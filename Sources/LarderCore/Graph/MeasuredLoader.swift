package import LarderSystem

/// Counts and times each load, and adds the trail of decisions to its result.
struct MeasuredLoader: Loader {
    let inner: any Loader
    let meter: Meter
    let world: any World
    /// The parameters that the origin takes and needs; nil if they are not checked.
    var parameters: OriginParameters?
    /// The store whose prefetched copies are used, and the fields that the origin adds to requests. Nil where no copies
    /// are shown.
    var prefetches: StoreAccess?
    /// The objects that must live as long as a load runs.
    var kept: [any Sendable] = []

    var hitRule: HitRule? { inner.hitRule }

    // The work after the wait has functions of its own. The variables of a function that waits take memory in each of
    // thousands of waiting loads. So do those of a search that has ended before: a task keeps the memory of the deepest
    // stack that it had. `larder-bench crowd` measures both.
    func load(_ call: Call) async throws -> Loaded<Entry> {
        let start = began()
        defer { meter.loadEnded() }
        do {
            try check(call)
            var loaded = try await inner.load(call)
            ended(call, &loaded, after: start)
            return loaded
        } catch {
            throw failed(call, error, after: start)
        }
    }

    @inline(never)
    private func began() -> Duration {
        meter.loadBegan()
        return world.uptime
    }

    @inline(never)
    private func check(_ call: Call) throws { try parameters?.check(call.request) }

    @inline(never)
    private func ended(_ call: Call, _ loaded: inout Loaded<Entry>, after start: Duration) {
        let took = world.uptime - start
        if loaded.content.metadata.isUnusedPrefetch { used(loaded.content, for: call.request) }
        count(call) { $0.ended(loaded, hash: call.key.hash, after: took) }
        loaded.provenance.sign(after: call.trail.steps, by: meter.revision)
        if meter.isReported(plain: loaded.freshness == .fresh && !loaded.fellBack) {
            meter.send(report(call, .success(loaded), after: took))
        }
    }

    @inline(never)
    private func failed(_ call: Call, _ error: any Error, after start: Duration) -> any Error {
        let took = world.uptime - start
        guard var failure = LoadError.meaning(of: error) else {
            meter.count(.cancelled)
            if meter.isReported(plain: true) { meter.send(report(call, nil, after: took)) }
            return error
        }
        count(call) {
            switch failure.code {
            case .notSignedIn: $0.count(.notSignedIn)
            case .invalidRequest: $0.count(.invalidRequests)
            default: $0.failed(failure, after: took)
            }
        }
        failure.trail = Trail(call.trail.steps)
        failure.trail.revision = meter.revision
        if meter.isReported(plain: false) { meter.send(report(call, .failure(failure), after: took)) }
        return failure
    }

    /// Counts the first use of a prefetched copy.
    @inline(never)
    private func used(_ entry: Entry, for request: Request) {
        guard let prefetches, request.purpose == .user else { return }
        prefetches.usedPrefetch(entry, for: request)
    }

    private func count(_ call: Call, _ count: (Meter) -> Void) {
        if call.request.isCountedApart { meter.count(call.request.counterApart) } else { count(meter) }
    }

    private func report(_ call: Call, _ result: Result<Loaded<Entry>, LoadError>?, after took: Duration) -> LoadReport {
        LoadReport(call, result, revision: meter.revision, began: world.now - took, took: took)
    }
}

extension Request {
    /// The counter of loads that are part of no rate.
    var counterApart: Counter { mode == .cachedOnly ? .cachedOnly : .prefetches }
}

/// Counts and times each call of an origin.
package struct MeasuredOrigin: Loader {
    let origin: any Loader
    let meter: Meter
    let world: any World

    package init(_ origin: any Loader, meter: Meter, world: any World) {
        self.origin = origin
        self.meter = meter
        self.world = world
    }

    package var keepsLimit: Bool { origin.keepsLimit }

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        let (start, asked) = (world.uptime, world.now)
        do {
            var loaded = try await answer(to: call)
            answered(call, &loaded, asked: asked, since: start)
            return loaded
        } catch {
            throw failed(call, error, since: start)
        }
    }

    // The work after the wait has functions of its own: see ``MeasuredLoader``.
    @inline(never)
    private func answered(_ call: Call, _ loaded: inout Loaded<Entry>, asked: Timestamp, since start: Duration) {
        let took = world.uptime - start
        // Sends are not counted here.
        if call.isSend { return call.trail.note("origin", .answered(after: took)) }
        loaded.value.metadata.askedAt = asked
        let isUnchanged = loaded.confirms(call)
        if !isUnchanged, loaded.source == .revalidated { loaded.source = .origin }
        call.trail.note("origin", isUnchanged ? .unchanged(after: took) : .answered(after: took))
        let bytes = isUnchanged ? 0 : loaded.value.payload.bytes.count
        report(call, failed: false, unchanged: isUnchanged, bytes: bytes, since: start)
    }

    @inline(never)
    private func failed(_ call: Call, _ error: any Error, since start: Duration) -> any Error {
        if call.isSend { return LoadError.failure(error) ?? CancellationError() }
        guard let failure = LoadError.failure(error) else {
            meter.originGivenUp(after: call.hasTimedOut?() == true ? world.uptime - start : nil)
            return CancellationError()
        }
        if !failure.isWithoutCall { report(call, failed: !failure.isAnswer, since: start) }
        return failure
    }

    @inline(never)
    private func answer(to call: Call) async throws -> Loaded<Entry> {
        // Only a call for data that a timeout may cancel later needs a handler, which makes everything inside it slower.
        guard let hasTimedOut = call.hasTimedOut, !call.isSend, !Task.isCancelled else {
            return try await origin.load(call)
        }
        return try await withTaskCancellationHandler {
            try await origin.load(call)
        } onCancel: {
            // Counted now, because the origin may ignore its cancellation.
            if hasTimedOut() { meter.count(.originErrors) }
        }
    }

    private func report(_ call: Call, failed: Bool, unchanged: Bool = false, bytes: Int = 0, since start: Duration) {
        meter.originCalled(
            failed: failed, unchanged: unchanged, conditional: call.known?.metadata.hasCondition == true, bytes: bytes,
            after: world.uptime - start)
    }
}
