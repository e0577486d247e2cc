/// Counts and times each load, and signs it with the trail that led to it.
struct Measured: Loader {
    let inner: any Loader
    let meter: Meter
    let world: any World

    func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
        let answer = inner.answer(request, codec: codec, for: uses)
        // Looked at where it lies: to unwrap it is to copy it.
        guard let account = answer?.account.facts, let copy = answer?.value.facts else { return nil }
        if request.mode == .cachedOnly {
            meter.count(.cachedOnly)
        } else if account.isHit {
            meter.hit(account, copy, hash: request.key.hash)
        } else if let answer {
            meter.ended(answer, after: .zero)
        }
        if meter.isHeard(plain: account.isPlain), let answer {
            meter.tell(report(Call(request, codec: codec), .success(answer), after: .zero))
        }
        return answer
    }

    // What follows the wait is told in functions of their own: what a function that waits keeps beside it, each of
    // thousands of waiting loads keeps.
    func load(_ call: Call) async throws -> Loaded<Entry> {
        let start = world.uptime
        meter.began()
        defer { meter.over() }
        do {
            return ended(call, try await inner.load(call), after: start)
        } catch {
            throw failed(call, error, after: start)
        }
    }

    @inline(never)
    private func ended(_ call: Call, _ loaded: Loaded<Entry>, after start: Duration) -> Loaded<Entry> {
        var loaded = loaded
        let took = world.uptime - start
        count(call) { $0.ended(loaded, after: took) }
        loaded.account.sign(after: call.trail.steps, by: meter.revision)
        if meter.isHeard(plain: loaded.freshness == .fresh && !loaded.fellBack) {
            meter.tell(report(call, .success(loaded), after: took))
        }
        return loaded
    }

    @inline(never)
    private func failed(_ call: Call, _ error: any Error, after start: Duration) -> any Error {
        let took = world.uptime - start
        guard var failure = LoadError.meaning(of: error) else {
            meter.count(.cancelled)
            if meter.isHeard(plain: true) { meter.tell(report(call, nil, after: took)) }
            return error
        }
        count(call) { $0.failed(failure, after: took) }
        failure.trail = Trail(call.trail.steps)
        failure.trail.revision = meter.revision
        if meter.isHeard(plain: false) { meter.tell(report(call, .failure(failure), after: took)) }
        return failure
    }

    private func count(_ call: Call, _ count: (Meter) -> Void) {
        if call.request.mode == .cachedOnly { meter.count(.cachedOnly) } else { count(meter) }
    }

    private func report(_ call: Call, _ result: Result<Loaded<Entry>, LoadError>?, after took: Duration) -> LoadReport {
        LoadReport(call, result, revision: meter.revision, began: world.now - took, took: took)
    }
}

/// Counts and times each call an origin is sent.
package struct MeasuredOrigin: Loader {
    let origin: any Loader
    let meter: Meter
    let world: any World

    package init(_ origin: any Loader, meter: Meter, world: any World) {
        self.origin = origin
        self.meter = meter
        self.world = world
    }

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        let start = world.uptime
        call.overrun?.began()
        defer { call.overrun?.ended() }
        do {
            let loaded = try await origin.load(call)
            let isUnchanged = loaded.source == .revalidated
            let took = (world.uptime - start).brief
            call.trail.note("origin", isUnchanged ? "unchanged, after \(took)" : "answered after \(took)")
            let bytes = isUnchanged ? 0 : loaded.value.payload.bytes.count
            report(call, failed: false, unchanged: isUnchanged, bytes: bytes, since: start)
            return loaded
        } catch {
            guard let failure = LoadError.failure(error) else {
                meter.originGivenUp(after: call.overrun?.isOver == true ? world.uptime - start : nil)
                throw CancellationError()
            }
            report(call, failed: !failure.isAnswer, since: start)
            throw failure
        }
    }

    private func report(
        _ call: Call, failed: Bool, unchanged: Bool = false, bytes: Int = 0, since start: Duration
    ) {
        meter.originCalled(
            failed: failed, unchanged: unchanged, conditional: call.known?.metadata.hasCondition == true, bytes: bytes,
            after: world.uptime - start)
    }
}
