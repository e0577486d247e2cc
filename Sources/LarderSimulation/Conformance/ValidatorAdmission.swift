#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

/// What a validator says to payloads that arrive.
struct ValidatorAdmission {
    private let validator: any Validator
    private let traits: Traits
    private let now: Timestamp

    /// What no reason may hold: it stands in every payload that is not empty.
    private static let secret = "quince"

    init(_ validator: any Validator, _ traits: Traits, now: Timestamp) {
        self.validator = validator
        self.traits = traits
        self.now = now
    }

    private struct Sample {
        var entry: Entry
        var name: String
    }

    /// Payloads of several sizes and types, with and without what an origin or a store may have noted.
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
                    metadata.version = 99
                    metadata.checksum = 5
                    metadata.spread = 0.5
                }
                return Sample(
                    entry: Entry(Data(text.utf8), metadata), name: "\(name) of the type \(type ?? "nobody names")")
            }
        }
    }

    /// What becomes of an entry: the entry as admitted, or the reason against it.
    private func admit(_ entry: Entry, from arrival: Arrival) -> Result<Entry, Refusal> {
        var entry = entry
        do throws(Refusal) {
            try validator.admit(&entry, from: arrival)
            return .success(entry)
        } catch {
            return .failure(error)
        }
    }

    func judge(_ findings: inout Findings) {
        for sample in samples {
            for arrival in [Arrival.origin, .fallback, .store] {
                findings.situation = "\(sample.name) arrives from the \(arrival)"
                let outcome = admit(sample.entry, from: arrival)
                judge(outcome, of: sample.entry, &findings)
                judge(outcome, like: admit(sample.entry, from: arrival), &findings)
            }
            guard let admitted = try? admit(sample.entry, from: .origin).get() else { continue }
            findings.situation = "\(sample.name) arrives from the origin and later from the store"
            let stored = Entry(admitted.payload.bytes, admitted.metadata)
            let outcome = admit(stored, from: .store)
            judge(outcome, of: stored, &findings)
            findings.expect(
                (try? outcome.get()) != nil, .consistent, "that what was admitted still is", got: outcome.inWords)
            let permissions = validator.permit(admitted.metadata, at: now)
            findings.expect(
                !permissions.uses.isEmpty, .consistent, "that what was admitted may be used for something",
                got: "that it may be used for nothing")
            if traits.noticesDamage { judgeDamage(stored, &findings) }
        }
    }

    private func judge(_ outcome: Result<Entry, Refusal>, of entry: Entry, _ findings: inout Findings) {
        switch outcome {
        case .failure(let refusal):
            findings.expect(!refusal.reason.isEmpty, .reasons, "a reason", got: "none")
            findings.expect(
                !refusal.reason.contains(Self.secret), .reasons, "no reason that shows the payload",
                got: "one that does")
        case .success(let admitted):
            findings.expect(
                admitted.payload.bytes == entry.payload.bytes, .leavesPayload, "the payload as it came",
                got: "another")
            findings.expect(
                admitted.metadata.fetchedAt == entry.metadata.fetchedAt
                    && admitted.metadata.validatedAt == entry.metadata.validatedAt,
                .leavesPayload, "the times as they were", got: "others")
        }
    }

    private func judge(
        _ outcome: Result<Entry, Refusal>, like again: Result<Entry, Refusal>, _ findings: inout Findings
    ) {
        findings.expect(
            outcome.map(\.metadata) == again.map(\.metadata), .deterministic, outcome.inWords, got: again.inWords)
    }

    /// Bytes changed, lost and added where the entry was kept.
    private func judgeDamage(_ entry: Entry, _ findings: inout Findings) {
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
                (try? outcome.get()) == nil, .traits, "that it notices damage, as it declares", got: outcome.inWords)
        }
    }
}

extension Result<Entry, Refusal> {
    fileprivate var inWords: String {
        switch self {
        case .success: "that it is admitted"
        case .failure(let refusal): "a refusal: \(refusal.reason)"
        }
    }
}
