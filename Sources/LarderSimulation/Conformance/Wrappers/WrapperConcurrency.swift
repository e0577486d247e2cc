import LarderFoundation
import Larder

/// Checks of concurrent loads through one wrapper, and of two compositions of the same wrapper.
extension WrapperConformance {
    func checkConcurrency(_ findings: inout BrokenPromises) {
        for seed in UInt64(1)...5 { checkConcurrentLoads(seed, &findings) }
        checkCancelledLoads(&findings)
        checkNeighbours(&findings)
    }

    /// Checks sixty loads of different keys, of which one in seven fails. Every value names its key.
    private func checkConcurrentLoads(_ seed: UInt64, _ findings: inout BrokenPromises) {
        let world = SimulatedWorld(seed: seed, interleaving: .shuffled)
        check("sixty loads at a time, seed \(seed)", &findings, in: world) { wrapped, world in
            wrapped.origin.play(
                then: .answering(after: .milliseconds(10)) { call in
                    let id = call.request.parameters["id"] ?? ""
                    if Int(id).map({ $0 % 7 == 0 }) == true { throw Outage() }
                    return Entry(Data(id.utf8))
                })
            var loads: [(id: String, load: ObservedTask<Loaded<Entry>>)] = []
            for number in 1...60 {
                loads.append(("\(number)", wrapped.load("\(number)")))
                if number % 5 == 0 { try await world.sleep(for: .milliseconds(3)) }
            }
            try await world.sleep(for: .seconds(7_200))
            return (loads: loads, leftRunning: wrapped.stage.leftRunning)
        } check: { seen, findings in
            for (id, load) in seen.loads {
                let text = load.value.map { String(decoding: $0.value.payload.bytes, as: UTF8.self) }
                let isFailure = load.failure.map { !($0 is CancellationError) } ?? false
                findings.expect(
                    load.ending != nil, promise: .concurrency, expected: "loads that end", got: "one that does not end")
                findings.expect(
                    text == id || isFailure || load.ending == nil, promise: .concurrency,
                    expected: "its own value or an error",
                    got: text.map { "'\($0)' for '\(id)'" } ?? load.inWords)
            }
            findings.expectNothingLeft(seen.leftRunning)
        }
    }

    /// Checks forty loads that are cancelled at the same time. Some of them may be waiting for others.
    private func checkCancelledLoads(_ findings: inout BrokenPromises) {
        let world = SimulatedWorld(seed: 9, interleaving: .shuffled)
        check("forty loads at a time, all cancelled after 1 s", &findings, in: world) { wrapped, world in
            wrapped.origin.play(then: .hang)
            let loads = (1...40).map { wrapped.load("\($0)") }
            try await world.sleep(for: .seconds(1))
            for load in loads { load.cancel() }
            try await world.runPendingTasks()
            let underWay = wrapped.origin.underWay
            wrapped.origin.play(then: .value("value"))
            try await world.sleep(for: .seconds(60))
            return (loads, underWay, try await wrapped.loadAndRest())
        } check: { seen, findings in
            let (loads, underWay, last) = seen
            let odd = loads.first { load in
                let ended = load.ending?.at ?? .forever
                return !(ended < .seconds(1) || load.isCancelled && ended == .seconds(1))
                    && !(load.failure is LoadError && ended == .seconds(1))
            }
            findings.expect(
                odd == nil, promise: .cancellation, expected: "a CancellationError at once for each",
                got: odd?.inWords ?? "")
            findings.expect(
                underWay == 0, promise: .cancelsInner, expected: "no running call afterwards", got: "\(underWay)")
            findings.expect(
                last.value != nil, promise: .pardonsCancellation, expected: "a value from the next load",
                got: last.inWords)
        }
    }

    /// Checks that a working origin is not affected by another one in a wrapper with the same settings. The other
    /// origin fails and hangs.
    private func checkNeighbours(_ findings: inout BrokenPromises) {
        check("another origin in the same kind of wrapper fails and hangs", &findings) { bad, world in
            let good = try await wrapped(world)
            bad.origin.play(then: .failure(.status(503)))
            for _ in 1...30 { _ = try await bad.loadAndRest() }
            bad.origin.play(then: .hang)
            let stuck = (1...30).map { bad.load("\($0)") }
            try await world.runPendingTasks()
            let load = try await good.loadAndRest()
            for load in stuck { load.cancel() }
            return load
        } check: { load, findings in
            findings.expect(load.value != nil, promise: .ownState, expected: "a value", got: load.inWords)
        }
    }
}
