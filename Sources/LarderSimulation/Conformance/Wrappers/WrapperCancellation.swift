import LarderFoundation
import Larder

/// Checks of a wrapper whose caller is cancelled, and whose origin ignores cancellation.
extension WrapperConformance {
    private struct Cancelled: Sendable {
        var load: ObservedTask<Loaded<Entry>>
        var moment: Duration
        var underWay: Int
        var leftRunning: Int
    }

    func checkCancellation(_ findings: inout BrokenPromises) {
        for moment in [0, 1, 10, 500, 1_500, 2_500, 20_000].map({ Duration.milliseconds($0) }) {
            for failures in 0...1 {
                let situation = failures == 0 ? "the origin never ends" : "the origin fails and then never ends"
                check("\(situation), the load is cancelled after \(moment.brief)", &findings) { wrapped, world in
                    for _ in 0..<failures { wrapped.origin.play(.failure(.status(503))) }
                    wrapped.origin.play(then: .hang)
                    return try await cancel(wrapped.load(), at: moment, wrapped)
                } check: { seen, findings in
                    check(seen, &findings)
                }
            }
        }
        checkCancelledLoadsInRow(&findings)
        checkCancelledTry(&findings)
    }

    private func cancel(
        _ load: ObservedTask<Loaded<Entry>>, at moment: Duration, _ wrapped: Wrapped
    ) async throws -> Cancelled {
        let world = wrapped.stage.world
        if moment > .zero { try await world.sleep(for: moment) }
        load.cancel()
        try await world.runPendingTasks()
        let underWay = wrapped.origin.underWay
        try await world.sleep(for: .seconds(7_200))
        return Cancelled(load: load, moment: moment, underWay: underWay, leftRunning: wrapped.stage.leftRunning)
    }

    private func check(_ seen: Cancelled, _ findings: inout BrokenPromises) {
        let ended = seen.load.ending?.at ?? .forever
        findings.expect(
            ended < seen.moment || seen.load.isCancelled && ended == seen.moment, promise: .cancellation,
            expected: "a CancellationError at once", got: "\(seen.load.inWords) after \(ended.brief)")
        findings.expect(
            seen.underWay == 0, promise: .cancelsInner, expected: "no running call once the load is cancelled",
            got: "\(seen.underWay)")
        findings.expectNothingLeft(seen.leftRunning)
    }

    /// Checks many cancelled loads in a row.
    private func checkCancelledLoadsInRow(_ findings: inout BrokenPromises) {
        check("thirty loads in a row are cancelled", &findings) { wrapped, world in
            wrapped.origin.play(then: .hang)
            for _ in 1...30 {
                let load = wrapped.load()
                try await world.runPendingTasks()
                load.cancel()
                try await world.sleep(for: .seconds(1))
            }
            wrapped.origin.play(then: .value("value"))
            return try await wrapped.loadAndRest()
        } check: { last, findings in
            findings.expect(
                last.value != nil, promise: .pardonsCancellation, expected: "a value from the next load",
                got: last.inWords)
        }
    }

    /// Checks the cancellation of the first load after many failures and a rest.
    private func checkCancelledTry(_ findings: inout BrokenPromises) {
        check("after many failures and an hour without calls, a load is cancelled", &findings) { wrapped, world in
            wrapped.origin.play(then: .failure(.status(503)))
            for _ in 1...30 { _ = try await wrapped.loadAndRest() }
            try await world.sleep(for: .seconds(3_600))
            wrapped.origin.play(then: .hang)
            let calls = wrapped.origin.calls.count
            let load = wrapped.load()
            try await world.runPendingTasks()
            let wasCalled = wrapped.origin.calls.count > calls
            load.cancel()
            try await world.sleep(for: .seconds(1))
            wrapped.origin.play(then: .value("value"))
            return wasCalled ? try await wrapped.loadAndRest() : nil
        } check: { last, findings in
            guard let last else { return }
            findings.expect(
                last.value != nil, promise: .pardonsCancellation, expected: "a value from the next load",
                got: last.inWords)
        }
    }

    // MARK: Deafness

    /// Checks that an origin that ignores cancellation delays neither a cancelled caller nor a wrapper with a time
    /// limit.
    func checkIgnoredCancellation(_ findings: inout BrokenPromises) {
        check("the origin ignores cancellation", &findings) { wrapped, world in
            wrapped.origin.play(then: .deaf)
            let caller = wrapped.stage.load()
            try await world.sleep(for: .milliseconds(1))
            caller.cancel()
            try await world.runPendingTasks()
            let fresh = try await self.wrapped(world)
            fresh.origin.play(then: .deaf)
            let limit = fresh.traits.givesUpAfter.map { $0 + world.uptime }
            let load = fresh.load()
            try await world.sleep(for: .seconds(7_200))
            return (caller: caller, load: load, limit: limit, leftRunning: wrapped.stage.leftRunning)
        } check: { seen, findings in
            let ended = seen.caller.ending?.at ?? .forever
            findings.expect(
                seen.caller.isCancelled && ended <= .milliseconds(1), promise: .cancellation,
                expected: "a CancellationError at once for the caller",
                got: "\(seen.caller.inWords) after \(ended.brief)")
            guard let limit = seen.limit, limit < .seconds(3_600) else { return }
            let end = seen.load.ending?.at ?? .forever
            findings.expect(
                end <= limit && seen.load.failure is LoadError, promise: .givesUp,
                expected: "a LoadError after \(limit.brief)",
                got: "\(seen.load.inWords) after \(end.brief)")
        }
    }
}
