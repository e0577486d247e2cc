/// Counts and times each load, and signs it with the trail that led to it.
package struct Measured: Loader {
    let inner: any Loader
    let revision: String
    let meter: Meter
    let world: any World

    package init(_ inner: any Loader, revision: String, meter: Meter, world: any World) {
        self.inner = inner
        self.revision = revision
        self.meter = meter
        self.world = world
    }

    package func answer(_ call: Call) -> Loaded<Entry>? {
        guard var loaded = inner.answer(call) else { return nil }
        loaded.trail.revision = revision
        if call.request.mode == .cachedOnly { meter.cachedOnly() } else { meter.ended(loaded, after: .zero) }
        return loaded
    }

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        let start = world.uptime
        do {
            var loaded = try await inner.load(call)
            count(call) { $0.ended(loaded, after: world.uptime - start) }
            loaded.trail = loaded.trail.following(call.trail.steps)
            loaded.trail.revision = revision
            return loaded
        } catch {
            guard var failure = LoadError.meaning(of: error) else {
                meter.cancelled()
                throw error
            }
            count(call) { $0.failed(failure, after: world.uptime - start) }
            failure.trail = Trail(call.trail.steps)
            failure.trail.revision = revision
            throw failure
        }
    }

    private func count(_ call: Call, _ report: (Meter) -> Void) {
        if call.request.mode == .cachedOnly { meter.cachedOnly() } else { report(meter) }
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
        do {
            let loaded = try await origin.load(call)
            let isUnchanged = loaded.source == .revalidated
            let took = (world.uptime - start).brief
            call.trail.note("origin", isUnchanged ? "unchanged, after \(took)" : "answered after \(took)")
            report(failed: false, unchanged: isUnchanged, since: start)
            return loaded
        } catch  where Task.isCancelled {
            // Whatever an origin throws when it is cancelled, it did not fail.
            meter.originCancelled()
            throw CancellationError()
        } catch {
            // A closure that throws `CancellationError` though nobody cancelled it has failed.
            let failure = LoadError.meaning(of: error) ?? LoadError(.failed, "cancelled itself", origin: error)
            report(failed: !failure.isAnswer, since: start)
            throw failure
        }
    }

    private func report(failed: Bool, unchanged: Bool = false, since start: Duration) {
        meter.originCalled(failed: failed, unchanged: unchanged, after: world.uptime - start)
    }
}
