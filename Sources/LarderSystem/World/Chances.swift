import Synchronization

/// Random numbers that cost nanoseconds: a counter that begins at random, mixed as in SplitMix64 (Steele, Lea and Flood,
/// OOPSLA 2014). They must not protect a secret: a person who knows one of them can compute the others.
final class Chances: Sendable {
    /// Zero before the first number. So making a world takes no system call.
    private let state = Atomic<UInt64>(0)

    func next() -> UInt64 {
        if state.load(ordering: .relaxed) == 0 {
            _ = state.compareExchange(expected: 0, desired: .random(in: 1 ... .max), ordering: .relaxed)
        }
        var bits = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }
}
