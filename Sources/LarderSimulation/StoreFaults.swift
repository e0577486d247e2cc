extension FaultyStore {
    /// An operation of a store.
    public enum Operation: Hashable, Sendable {
        /// Reads an entry.
        case read
        /// Writes an entry.
        case write
        /// Keeps an entry's metadata for the payload that is kept.
        case renew
        /// Marks entries as expired.
        case expire
        /// Removes entries.
        case remove
        /// Lists entries.
        case list
        /// Pins an entry, or removes its pin.
        case pin
        /// Closes the store. Faults have no effect.
        case close
    }

    /// A fault of an operation.
    public enum Fault: Hashable, Sendable {
        /// The operation throws.
        case fails
        /// The operation takes this long and then works.
        case takes(Duration)
        /// The operation takes this long and then throws.
        case failsAfter(Duration)
        /// The operation never ends, unless it is cancelled.
        case hangs
        /// The payload that is read or written has a wrong byte. Has no effect on the other operations.
        case corrupts
    }
}
