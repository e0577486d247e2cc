/// One call's place among the writes and clearings of its key, given back when nobody holds it any more.
package final class Ticket: Sendable {
    let key: Key
    /// When the call began, as a number that grows.
    let sequence: UInt64
    /// When the load began for which the call is made: what is cleared after that must not come back.
    let since: UInt64
    /// How many writes of the key there had been.
    let writes: UInt64
    private let giveBack: @Sendable (Key) -> Void

    init(
        _ key: Key, sequence: UInt64, since: UInt64, writes: UInt64, giveBack: @escaping @Sendable (Key) -> Void
    ) {
        self.key = key
        self.sequence = sequence
        self.since = since
        self.writes = writes
        self.giveBack = giveBack
    }

    deinit { giveBack(key) }
}
