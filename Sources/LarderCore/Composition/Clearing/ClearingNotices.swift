import LarderSystem

/// Tells listeners that copies are about to be removed, before any of them is. Also tells them when the removal is
/// over.
///
/// Listeners are called on the thread that clears.
final class ClearingNotices: Sendable {
    /// A clearing under way.
    struct Notice: Sendable {
        /// Identifies the clearing.
        let number: Int
        let selection: Selection
        /// The resource whose copies are removed; nil for all resources.
        let resource: String?
    }

    enum News: Sendable {
        case began(Notice)
        case ended(Notice)
    }

    private struct State {
        var last = 0
        var underWay: [Int: Notice] = [:]
    }

    private let state = Locked(State())
    private let listeners = Listeners<News>()

    func begin(_ selection: Selection, of resource: String?) -> Notice {
        let notice = state.withLock { state in
            state.last += 1
            let notice = Notice(number: state.last, selection: selection, resource: resource)
            state.underWay[notice.number] = notice
            return notice
        }
        listeners.send(.began(notice))
        return notice
    }

    func end(_ notice: Notice) {
        state.withLock { $0.underWay[notice.number] = nil }
        listeners.send(.ended(notice))
    }

    /// Calls `listener` for the clearings under way, and for those from now on. A beginning or an end may be told twice.
    func listen(_ listener: @escaping @Sendable (News) -> Void) -> Subscription {
        let subscription = listeners.add(listener)
        for (number, notice) in state.withLock({ $0.underWay }) {
            listener(.began(notice))
            // It may have ended, and its end may have been told, before its beginning.
            if state.withLock({ $0.underWay[number] == nil }) { listener(.ended(notice)) }
        }
        return subscription
    }
}
