import LarderSystem
import LarderFoundation
import Larder

/// Checks of a validator's decisions about arriving payloads.
struct ValidatorAdmission {
    let validator: any Validator
    let traits: ValidatorTraits
    let now: Timestamp

    /// A word in every payload that is not empty, which no reason may contain.
    private static let secret = "quince"

    /// The key of a note that belongs to another plugin.
    private static let foreign = NoteKey<Int>("elsewhere")

    private struct Sample {
        var entry: Entry
        var name: String
    }

    /// Payloads of several sizes and types, with and without metadata and notes.
    private var samples: [Sample] {
        let long = String(repeating: Self.secret + " ", count: 2_000)
        let payloads = [("nothing", ""), ("a word", Self.secret), ("JSON", #"{"a":"quince"}"#), ("14 KB", long)]
        let types = [nil, "application/json", "text/html; charset=utf-8", "image/png"]
        return payloads.flatMap { name, text in
            types.enumerated().map { number, type in
                var metadata = Metadata(fetchedAt: now, contentType: type)
                if number % 2 == 1 { metadata.etag = "e1" }
                if number == 2 {
                    metadata.fetchedAt = now - .seconds(60)
                    metadata.validatedAt = now
                    metadata.tags = ["a"]
                    metadata.notes = [Self.foreign.name: .number(99)]
                    metadata.fields = ["Cache-Control": "max-age=60", "X-Word": "a"]
                    metadata.status = 200
                    metadata.spread = 0.5
                }
                return Sample(
                    entry: Entry(Data(text.utf8), metadata), name: "\(name) of the type \(type ?? "that is unknown")")
            }
        }
    }

    fileprivate struct Admitted {
        var entry: Entry
        var admission: Admission

        var facts: Facts { Facts(metadata: entry.metadata, admission: admission) }
    }

    fileprivate struct Facts: Equatable {
        var metadata: Metadata
        var admission: Admission
    }

    private typealias Outcome = Result<Admitted, Refusal>

    /// Returns the entry as admitted, or the refusal.
    private func admit(_ entry: Entry, from arrival: Arrival) -> Outcome {
        var entry = entry
        do throws(Refusal) {
            let admission = try validator.admit(&entry, from: arrival, for: TestedPlugin.request)
            return .success(Admitted(entry: entry, admission: admission))
        } catch {
            return .failure(error)
        }
    }

    func check(_ findings: inout BrokenPromises) {
        for sample in samples {
            for arrival in [Arrival.origin, .unchanged, .fallback, .store] {
                findings.situation = "\(sample.name) arrives as \(arrival)"
                let outcome = admit(sample.entry, from: arrival)
                check(outcome, of: sample.entry, &findings)
                check(outcome, like: admit(sample.entry, from: arrival), &findings)
            }
            guard let first = try? admit(sample.entry, from: .origin).get(), first.admission == .keep else { continue }
            let admitted = first.entry
            let stored = Entry(admitted.payload.bytes, admitted.metadata)
            for arrival in [Arrival.unchanged, .store] {
                findings.situation = "\(sample.name) arrives as origin and later as \(arrival)"
                let outcome = admit(stored, from: arrival)
                check(outcome, of: stored, &findings)
                findings.expect(
                    (try? outcome.get())?.admission == .keep, promise: .consistent,
                    expected: "an entry admitted again, to be kept",
                    got: outcome.inWords)
            }
            let permissions = validator.permit(admitted.metadata, for: TestedPlugin.request, at: now)
            findings.expect(
                !permissions.uses.isEmpty, promise: .consistent, expected: "an admitted entry with a permitted use",
                got: "an entry without one")
            if traits.noticesDamage { checkDamage(stored, &findings) }
        }
    }

    private func check(_ outcome: Outcome, of entry: Entry, _ findings: inout BrokenPromises) {
        switch outcome {
        case .failure(let refusal):
            findings.expect(!refusal.reason.isEmpty, promise: .reasons, expected: "a reason", got: "none")
            findings.expect(
                !refusal.reason.contains(Self.secret), promise: .reasons, expected: "a reason without payload",
                got: "one that contains it")
        case .success(let success):
            let admitted = success.entry
            findings.expect(
                admitted.payload.bytes == entry.payload.bytes, promise: .leavesPayload,
                expected: "the payload as it came",
                got: "another")
            findings.expect(
                admitted.metadata.fetchedAt == entry.metadata.fetchedAt
                    && admitted.metadata.validatedAt == entry.metadata.validatedAt,
                promise: .leavesPayload, expected: "the times as they were", got: "others")
            findings.expect(
                admitted.metadata[Self.foreign] == entry.metadata[Self.foreign], promise: .keepsNotes,
                expected: "the note of another plugin as it was", got: "another or none")
        }
    }

    private func check(
        _ outcome: Outcome, like again: Outcome, _ findings: inout BrokenPromises
    ) {
        findings.expect(
            outcome.map(\.facts) == again.map(\.facts), promise: .deterministic, expected: outcome.inWords,
            got: again.inWords)
    }

    /// Checks payloads whose bytes were changed, lost or added in a store.
    private func checkDamage(_ entry: Entry, _ findings: inout BrokenPromises) {
        let bytes = Array(entry.payload.bytes)
        var damaged = [bytes + [0], Array(bytes.dropLast()), Array(bytes.reversed())]
        for place in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 40)) {
            var copy = bytes
            copy[place] ^= 1 << UInt8(place % 8)
            damaged.append(copy)
        }
        for copy in damaged where copy != bytes {
            let outcome = admit(Entry(Data(copy), entry.metadata), from: .store)
            findings.expect(
                (try? outcome.get()) == nil, promise: .traits,
                expected: "a refusal, because it declares that it finds damage",
                got: outcome.inWords)
        }
    }
}

extension Result<ValidatorAdmission.Admitted, Refusal> {
    fileprivate var inWords: String {
        switch self {
        case .success(let admitted):
            admitted.admission == .keep ? "an admitted entry" : "an entry to be used but not kept"
        case .failure(let refusal): "a refusal: \(refusal.reason)"
        }
    }
}
