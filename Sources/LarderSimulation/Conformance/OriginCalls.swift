#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

/// Calls of an origin, one after the other, and some that are cancelled.
extension OriginConformance {
    /// One call and what came of it.
    private struct Passage: Sendable {
        var what: String
        var call: Call
        var load: Watched<Loaded<Entry>>

        /// What came of it, complete, to be compared.
        var outcome: String {
            guard let loaded = load.value else { return load.inWords }
            let bytes = SHA256.hex(loaded.value.payload.bytes)
            return "\(bytes) \(loaded.value.metadata) \(loaded.source) \(loaded.freshness)"
        }

        /// What came of it, for people.
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

    func judgeCalls(_ seed: UInt64, _ findings: inout Findings) {
        findings.judge("calls one after the other, seed \(seed)") {
            (try play(seed), try play(seed))
        } _: { runs, findings in
            let (first, second) = runs
            for passage in first.passages {
                findings.situation = "\(passage.what), seed \(seed)"
                judge(passage, cannotFail: first.cannotFail, &findings)
            }
            for (passage, again) in zip(first.passages, second.passages) {
                findings.situation = "\(passage.what), played twice with seed \(seed)"
                findings.expect(passage.outcome == again.outcome, .repeatable, passage.inWords, got: again.inWords)
            }
            findings.expect(
                first.leftRunning == 0, .endsEverything, "nothing under way two hours later",
                got: "\(first.leftRunning) tasks")
        }
    }

    /// Makes each request without a copy, with the one that came, and with one that the origin has never sent.
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
                    try await pass("a call that names the copy that came", Call(request).knowing(came))
                }
                let now = world.now
                for metadata in [
                    Metadata(fetchedAt: now), Metadata(fetchedAt: now, etag: Self.secret, lastModified: Self.secret),
                ] {
                    let strange = Entry(Data(Self.secret.utf8), metadata)
                    try await pass("a call that names a copy it never sent", Call(request).knowing(strange))
                }
            }
            // Some at a time.
            let loads = Self.requests.map { ($0, made.load(Call($0))) }
            try await world.sleep(for: .seconds(7_200))
            for (request, load) in loads {
                seen.passages.append(Passage(what: "calls at the same time", call: Call(request), load: load))
            }
            seen.leftRunning = made.stage.leftRunning
            return seen
        }
    }

    private func judge(_ passage: Passage, cannotFail: Bool, _ findings: inout Findings) {
        findings.expect(
            passage.load.ending != nil, .endsEverything, "that it ends within an hour", got: "one that goes on")
        if let loaded = passage.load.value, loaded.source == .revalidated {
            let known = passage.call.known
            findings.expect(known != nil, .unchanged, "a value: there is no copy to be unchanged", got: passage.inWords)
            if let known {
                let isStrange = known.payload.bytes == Data(Self.secret.utf8)
                findings.expect(
                    !isStrange && loaded.value.payload.bytes == known.payload.bytes, .unchanged,
                    isStrange ? "a value: the copy is none of its own" : "the copy that was named",
                    got: passage.inWords)
            }
        }
        if let error = passage.load.failure { judge(error, passage, cannotFail: cannotFail, &findings) }
        let told = passage.call.trail.steps.map(\.description).joined()
        findings.expect(
            !told.contains(Self.secret), .failures, "a trail that gives nothing away",
            got: "one that holds what the call named")
    }

    private func judge(_ error: any Error, _ passage: Passage, cannotFail: Bool, _ findings: inout Findings) {
        findings.expect(
            !(error is CancellationError), .failures, "an error where nobody cancelled", got: "a CancellationError")
        findings.expect(!cannotFail, .traits, "a value from what declares that it cannot fail", got: passage.inWords)
        guard let error = error as? LoadError else { return }
        let words = ([error.message] + error.trail.lines).joined(separator: " ")
        findings.expect(
            !words.contains(Self.secret), .failures, "an error that gives nothing away",
            got: "one that holds what the call named")
        findings.expect(!error.message.isEmpty, .failures, "an error in words", got: "one without")
    }

    // MARK: Cancellation

    func judgeCancellation(_ findings: inout Findings) {
        for time in [Duration.zero, .milliseconds(1), .milliseconds(20)] {
            findings.judge("a call that is cancelled after \(time.brief)") {
                try SimulatedWorld().run { world in
                    let made = try await made(world)
                    let start = world.uptime
                    let loads = Self.requests.map { made.load(Call($0)) }
                    try await world.sleep(for: time)
                    for load in loads { load.cancel() }
                    try await world.settle()
                    let running = loads.count { $0.ending == nil }
                    try await world.sleep(for: .seconds(7_200))
                    return (loads, running, start + time, made.stage.leftRunning)
                }
            } _: { seen, findings in
                let (loads, running, end, leftRunning) = seen
                findings.expect(running == 0, .cancellation, "that it ends at once", got: "one that goes on")
                let odd = loads.first { load in
                    load.failure != nil && !load.isCancelled && (load.ending?.at ?? .forever) >= end && time > .zero
                }
                findings.expect(odd == nil, .cancellation, "a CancellationError", got: odd?.inWords ?? "")
                findings.expect(
                    leftRunning == 0, .endsEverything, "nothing under way two hours later",
                    got: "\(leftRunning) tasks")
            }
        }
    }
}
