import LarderFoundation
import LarderSystem
import Larder

/// Checks of an origin's calls, and of cancelled calls.
extension OriginConformance {
    /// A call and its result.
    private struct Passage: Sendable {
        var what: String
        var call: Call
        var load: ObservedTask<Loaded<Entry>>

        /// The complete result as text, for comparisons.
        var outcome: String {
            guard let loaded = load.value else { return load.inWords }
            let bytes = SHA256.hex(loaded.value.payload.bytes)
            return "\(bytes) \(loaded.value.metadata) \(loaded.source) \(loaded.freshness)"
        }

        /// The result in words, for messages.
        var inWords: String {
            guard let loaded = load.value else { return load.inWords }
            return "\(loaded.value.inWords) from \(loaded.source)"
        }
    }

    private struct Seen: Sendable {
        var passages: [Passage] = []
        var cannotFail = false
        var leftRunning = 0
    }

    func checkCalls(_ seed: UInt64, _ findings: inout BrokenPromises) {
        findings.check("calls one after the other, seed \(seed)") {
            (try play(seed), try play(seed))
        } check: { runs, findings in
            let (first, second) = runs
            for passage in first.passages {
                findings.situation = "\(passage.what), seed \(seed)"
                check(passage, cannotFail: first.cannotFail, &findings)
            }
            for (passage, again) in zip(first.passages, second.passages) {
                findings.situation = "\(passage.what), played twice with seed \(seed)"
                findings.expect(
                    passage.outcome == again.outcome, promise: .repeatable, expected: passage.inWords,
                    got: again.inWords)
            }
            findings.expectNothingLeft(first.leftRunning)
        }
    }

    /// Makes each request three times: without a copy, with the origin's own copy, and with a copy that the origin
    /// never sent.
    private func play(_ seed: UInt64) throws -> Seen {
        try SimulatedWorld(seed: seed).run { world in
            let made = try await made(world)
            var seen = Seen(cannotFail: made.traits.cannotFail)
            func pass(_ what: String, _ call: Call) async throws {
                let load = made.load(call)
                let start = world.uptime
                while load.ending == nil, world.uptime - start < .seconds(3_600) {
                    try await world.sleep(for: .seconds(1))
                }
                seen.passages.append(Passage(what: what, call: call, load: load))
            }
            for request in Self.requests {
                try await pass("a call that names no copy", Call(request))
                if let came = seen.passages.last?.load.value?.value {
                    try await pass("a call that names the received copy", Call(request).knowing(came))
                }
                let now = world.now
                for metadata in [
                    Metadata(fetchedAt: now), Metadata(fetchedAt: now, etag: Self.secret, lastModified: Self.secret),
                ] {
                    let strange = Entry(Data(Self.secret.utf8), metadata)
                    try await pass("a call that names a foreign copy", Call(request).knowing(strange))
                }
            }
            // Several calls at the same time.
            let loads = Self.requests.map { ($0, made.load(Call($0))) }
            try await world.sleep(for: .seconds(7_200))
            for (request, load) in loads {
                seen.passages.append(Passage(what: "simultaneous calls", call: Call(request), load: load))
            }
            seen.leftRunning = made.stage.leftRunning
            return seen
        }
    }

    private func check(_ passage: Passage, cannotFail: Bool, _ findings: inout BrokenPromises) {
        findings.expect(
            passage.load.ending != nil, promise: .endsEverything, expected: "a call that ends within an hour",
            got: "one that does not end"
        )
        if let loaded = passage.load.value, loaded.source == .revalidated {
            let known = passage.call.known
            findings.expect(
                known != nil, promise: .unchanged, expected: "a value, because the call names no copy",
                got: passage.inWords)
            if let known {
                let isStrange = known.payload.bytes == Data(Self.secret.utf8)
                findings.expect(
                    !isStrange && loaded.value.payload.bytes == known.payload.bytes, promise: .unchanged,
                    expected: isStrange ? "a value, because the origin never sent the copy" : "the copy that was named",
                    got: passage.inWords)
            }
        }
        if let error = passage.load.failure {
            check(error, passage: passage, cannotFail: cannotFail, findings: &findings)
        }
        let told = passage.call.trail.steps.map(\.description).joined()
        findings.expect(
            !told.contains(Self.secret), promise: .failures, expected: "a trail without parameters or payload",
            got: "one that contains them")
    }

    private func check(_ error: any Error, passage: Passage, cannotFail: Bool, findings: inout BrokenPromises) {
        findings.expect(
            !(error is CancellationError), promise: .failures, expected: "an error other than CancellationError",
            got: "a CancellationError")
        findings.expect(
            !cannotFail, promise: .traits, expected: "a value, because the origin declares that it cannot fail",
            got: passage.inWords)
        guard let error = error as? LoadError else { return }
        let words = ([error.message] + error.trail.lines).joined(separator: " ")
        findings.expect(
            !words.contains(Self.secret), promise: .failures, expected: "an error without parameters or payload",
            got: "one that contains them")
        findings.expect(
            !error.message.isEmpty, promise: .failures, expected: "an error with a message", got: "one without")
    }

    // MARK: Cancellation

    func checkCancellation(_ findings: inout BrokenPromises) {
        for time in [Duration.zero, .milliseconds(1), .milliseconds(20)] {
            findings.check("a call that is cancelled after \(time.brief)") {
                try SimulatedWorld().run { world in
                    let made = try await made(world)
                    let start = world.uptime
                    let loads = Self.requests.map { made.load(Call($0)) }
                    try await world.sleep(for: time)
                    for load in loads { load.cancel() }
                    try await world.runPendingTasks()
                    let running = loads.count { $0.ending == nil }
                    try await world.sleep(for: .seconds(7_200))
                    return (loads, running, start + time, made.stage.leftRunning)
                }
            } check: { seen, findings in
                let (loads, running, end, leftRunning) = seen
                findings.expect(
                    running == 0, promise: .cancellation, expected: "a call that ends at once",
                    got: "one that does not end")
                let odd = loads.first { load in
                    load.failure != nil && !load.isCancelled && (load.ending?.at ?? .forever) >= end && time > .zero
                }
                findings.expect(
                    odd == nil, promise: .cancellation, expected: "a CancellationError", got: odd?.inWords ?? "")
                findings.expectNothingLeft(leftRunning)
            }
        }
    }
}
