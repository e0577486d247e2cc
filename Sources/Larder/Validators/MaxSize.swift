#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Plugin {
    /// Payloads that are too large.
    static let maxSize = Plugin.validator(
        "max-size", "Admits no payload that is larger than this.",
        Setting("most", .size, help: "The largest payload")
    ) { _, most in MaxSize(most: most) }
}

/// Admits no payload that is too large.
struct MaxSize: Validator {
    let most: Int

    func admit(_ entry: inout Entry, from arrival: Arrival) throws(Refusal) {
        if entry.payload.bytes.count > most {
            throw Refusal("it is larger than \(Quantity.size.text(Int64(most)))")
        }
    }
}
