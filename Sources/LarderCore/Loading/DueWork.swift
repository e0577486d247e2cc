public import LarderSystem

/// An attachment with work that becomes due from time to time, such as a schedule.
///
/// While the app runs, the attachment does its work by itself. When a system wakes the app for a short time, or a command
/// runs for a moment, ``Pantry/runDue(within:)`` asks every attachment for the work that is due.
///
/// ```swift
/// extension Digest: DueWork {
///     var nextDue: Timestamp? { state.withLock { $0.next } }
///
///     func runDue() async -> DueResult {
///         guard let next = nextDue, next <= context.world.now else { return .notDue }
///         do { try await send() } catch { return .failed("the digest could not be sent") }
///         return .ran
///     }
/// }
/// ```
public protocol DueWork: Attachment {
    /// The time at which the next work is due, or was due if it has not been done yet. Nil if no work is planned.
    ///
    /// It may be called from any thread, and must be quick.
    var nextDue: Timestamp? { get }

    /// Does the work that is due now, and returns its result. If the work is under way already, waits for it.
    ///
    /// When its task is cancelled, the time for the work is over: the work should end soon. Nobody waits for its result
    /// then.
    func runDue() async -> DueResult
}

/// The result of the work of one attachment: see ``DueWork/runDue()``.
public enum DueResult: Hashable, Sendable {
    /// The work was done.
    case ran
    /// The work was done in vain. The reason has no key, parameter, address or payload.
    case failed(String)
    /// The work is due and waits for something, such as a network. The reason is in words: `for the network 'wifi'`.
    case waiting(String)
    /// No work was due.
    case notDue
    /// The work is due, and there was not enough time for it.
    case unfinished
}

/// The result of ``Pantry/runDue(within:)``.
public struct DueReport: Sendable {
    /// The result for one attachment.
    public struct Item: Sendable {
        /// The resource; nil for a section of `_larder.json`.
        public let resource: String?
        /// The name of the section.
        public let section: String
        /// The result of its work.
        public let result: DueResult
        /// The time at which its next work is due. A time in the past means that work is left. Nil if no work is planned.
        public let next: Timestamp?
    }

    /// The results of all attachments with due work, in the order of their resources. Those of `_larder.json` come last.
    public let items: [Item]

    /// The earliest time at which work is due. A time in the past means that work is left. Nil if no work is planned.
    public var next: Timestamp? { items.compactMap(\.next).min() }

    /// The items whose work ran, in vain or not.
    public var ran: [Item] { items.filter { $0.result == .ran || $0.hasFailed } }

    /// The items whose work ran in vain.
    public var failed: [Item] { items.filter(\.hasFailed) }

    /// The items whose work is due and has not been done, because it waits or there was not enough time.
    public var left: [Item] {
        items.filter { item in
            switch item.result {
            case .waiting, .unfinished: true
            case .ran, .failed, .notDue: false
            }
        }
    }

    package init(items: [Item]) { self.items = items }
}

extension DueReport.Item {
    /// Whether its work ran in vain.
    fileprivate var hasFailed: Bool {
        if case .failed = result { true } else { false }
    }
}
