/// The result of a load as its user and its origin notice it: the value, its age, the wait, and the number of calls.
///
/// They are measured from outside. The age follows from the payload and the time at which the origin last sent or
/// confirmed it, by the device's clock.
public struct ObservedLoad: Hashable, Sendable {
    /// The end of a load.
    public enum Ending: Hashable, Sendable {
        /// A value of this age. The age of a fallback's value is unknown. It is negative if the clock was set back.
        case value(age: Duration?)
        /// An error with this code and status.
        case error(code: String, status: Int?)
        /// The load never ends.
        case never
    }

    /// The end of the load.
    public var ending: Ending
    /// The time that the load took; nil if it never ends.
    public var waited: Duration?
    /// Whether the value came from the origin during the load.
    public var isLive = false
    /// Whether the value is a fallback's.
    public var isFallback = false
    /// Whether the value is marked as stale.
    public var isStale = false
    /// The number of calls to origins that began during the load or after it.
    public var calls = 0
    /// The time from the beginning of the load until the origin first answered with a value or confirmed the copy as
    /// unchanged. Nil if it did not.
    public var refreshedAfter: Duration?

    /// Makes the observation of a load that ended so.
    package init(ending: Ending) { self.ending = ending }

    /// Whether there is a value.
    public var isAnswered: Bool { if case .value = ending { true } else { false } }

    /// The age of the value, if there is one whose age is known.
    public var age: Duration? { if case .value(let age) = ending { age } else { nil } }
}
