import LarderFoundation
import LarderSystem
import LarderCore

extension Plugin {
    /// A validator that notices damaged payloads.
    static let checksum = Plugin.validator(
        "checksum", "Saves a checksum with each payload, and refuses copies whose checksum is missing or different.",
        traits: { .with { ($0.noticesDamage, $0.borders) = (true, []) } }
    ) { _ in ChecksumValidator() }
}

extension NoteKey where Value == UInt64 {
    /// The checksum of the payload when it arrived.
    static var checksum: NoteKey { NoteKey("checksum") }
}

/// A validator that finds payloads damaged in a store. It does not authenticate the sender.
struct ChecksumValidator: Validator {
    var permitRule: PermitRule? { .everything }

    func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
        let noted = entry.metadata[.checksum]
        // The payload of an unchanged entry was checked when it was read, and hashing it again may take long.
        if arrival == .unchanged, noted != nil { return .keep }
        let sum = entry.payload.bytes.withUnsafeBytes { Checksum.of($0) }
        if arrival != .store {
            entry.metadata[.checksum] = sum
        } else if noted != sum {
            throw Refusal(noted == nil ? "it was saved without a checksum" : "its checksum differs")
        }
        return .keep
    }
}
