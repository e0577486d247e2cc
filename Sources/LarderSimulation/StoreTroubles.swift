extension FaultyStore {
    /// Something a store is asked to do.
    public enum Operation: Hashable, Sendable {
        /// To find an entry.
        case read
        /// To keep one.
        case write
        /// To mark one whose newer answer could not be kept.
        case expire
        /// To forget some.
        case remove
    }

    /// What goes wrong with it.
    public enum Fault: Hashable, Sendable {
        /// It throws.
        case fails
        /// It takes this long first.
        case takes(Duration)
        /// It takes this long and then throws.
        case failsAfter(Duration)
        /// It never ends, unless cancelled.
        case hangs
        /// The payload that is read or kept has a wrong byte. Nothing goes wrong with forgetting.
        case corrupts
    }
}
