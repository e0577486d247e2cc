/// The order to which tickets belong.
protocol TicketOrder: AnyObject, Sendable {
    /// Takes back a ticket of a line.
    func end(_ line: KeyWrites)

    /// Returns whether anything that may concern the ticket's key was cleared since the load began, or is being cleared.
    func mayBeVoid(_ ticket: Ticket) -> Bool
}

/// The order of a call among the writes and clearings of its key. The ticket is returned when it is deallocated.
package final class Ticket: Sendable {
    /// The key under which the store keeps the answer: ``key`` or a variant of it.
    let entryKey: Key
    /// The sequence number of the start of the call.
    let sequence: UInt64
    /// The sequence number of the start of the load. Data that was cleared after that must not be saved.
    let since: UInt64
    /// The number of the last clearing by another process before the load began.
    let position: UInt64
    /// The number of writes of the key before the call.
    let writes: UInt64
    /// The tickets and writes of the key.
    let line: KeyWrites
    private let order: any TicketOrder

    init(
        _ line: KeyWrites, entryKey: Key, sequence: UInt64, since: UInt64, position: UInt64,
        writes: UInt64, of order: any TicketOrder
    ) {
        self.line = line
        self.entryKey = entryKey
        self.sequence = sequence
        self.since = since
        self.position = position
        self.writes = writes
        self.order = order
    }

    deinit { order.end(line) }

    var key: Key { line.key }

    /// Whether anything that may concern the key was cleared since the load began, or is being cleared.
    var mayBeVoid: Bool { order.mayBeVoid(self) }
}
