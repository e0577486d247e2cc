import LarderSystem

/// A refresh that waits until the device has a network on which the policy permits it.
final class PostponedRefresh: Sendable {
    /// The place among the refreshes that wait. Smaller numbers are earlier.
    let number: UInt64
    let request: Request
    let codec: AnyCodec
    /// The longest time that the refresh may take.
    let limit: Duration
    /// The number of the last clearing by another process before it was postponed.
    let position: UInt64

    init(_ request: Request, codec: AnyCodec, limit: Duration, number: UInt64, since position: UInt64) {
        self.request = request
        self.codec = codec
        self.limit = limit
        self.number = number
        self.position = position
    }
}
