import LarderFoundation
import LarderCore

extension Plugin {
    /// A validator of the size of payloads.
    static let maxSize = Plugin.validator(
        "max-size", "Refuses payloads that are too large.",
        Setting("capacity", .size, help: "The size of the largest payload that is admitted")
            .alsoCalled("size", "max", "limit"),
        traits: { _ in .with { $0.borders = [] } }
    ) { _, capacity in MaxSize(capacity: capacity) }
}

/// A validator that admits no payload larger than `capacity`.
struct MaxSize: Validator {
    let capacity: Int

    var permitRule: PermitRule? { .everything }

    func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
        if entry.payload.bytes.count > capacity {
            throw Refusal("it is larger than \(capacity.spelledSize)")
        }
        return .keep
    }
}
