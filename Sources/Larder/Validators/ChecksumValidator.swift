#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Plugin {
    /// Damage.
    static let checksum = Plugin.validator(
        "checksum", "Notes each payload's checksum and admits none from a store that differs or was saved without.",
        traits: { Traits().with { $0.noticesDamage = true } }
    ) { _ in ChecksumValidator() }
}

/// Notices payloads that were damaged where they were kept. It does not tell who sent them.
struct ChecksumValidator: Validator {
    func admit(_ entry: inout Entry, from arrival: Arrival) throws(Refusal) {
        let sum = entry.payload.bytes.withUnsafeBytes { Checksum.of($0) }
        if arrival != .store {
            entry.metadata.checksum = sum
        } else if entry.metadata.checksum != sum {
            throw Refusal(entry.metadata.checksum == nil ? "it was saved without a checksum" : "its checksum differs")
        }
    }
}
