import Larder
import LarderSync
import LarderSystem

/// The example of the article "Records on a screen".
enum RecordScreensArticle {
    struct Collection: Codable, Sendable {
        var id: String?
        var name: String
    }

    /// The texts that a screen shows, the latest ones.
    final class Screen: Sendable {
        private let texts = Locked<[String]>([])

        /// Returns the texts since the last call.
        func shown() -> [String] {
            texts.withLock { texts in
                defer { texts = [] }
                return texts
            }
        }

        func show(_ text: String?) { if let text { texts.withLock { $0.append(text) } } }
        func confirms(_ question: String) -> Bool {
            show(question)
            return true
        }
    }

    /// Opens the screen.
    static func open(_ pantry: Pantry) -> (LiveRecords<Collection>, LiveSyncStatus) {
        let collections = pantry.records("collections", of: Collection.self)
        let (mine, sync) = (collections.live(), collections.liveStatus())
        return (mine, sync)
    }

    /// Draws the list.
    static func draw(_ mine: LiveRecords<Collection>, _ sync: LiveSyncStatus, _ screen: Screen) {
        if mine.isLoading { return screen.show("…") }
        for record in mine.records {
            screen.show([record.value.name, record.state.badge].compactMap(\.self).joined(separator: ", "))
        }
        screen.show(mine.isComplete ? nil : "Not everything was loaded yet")
        screen.show(sync.status.banner)
    }

    /// Explains what waits.
    static func explain(_ pantry: Pantry, _ screen: Screen) async throws {
        let collections = pantry.records("collections", of: Collection.self)
        for change in try await collections.waiting() {
            screen.show("\(change.value?.name ?? "A deletion") waits for \(change.waitsFor)")
        }
    }

    /// Signs an account out.
    static func signOut(_ account: String, of pantry: Pantry, _ screen: Screen) async throws {
        try await pantry.sendWaiting(within: .seconds(5))
        let left = try await pantry.unsent(of: account).reduce(0) { $0 + $1.total }
        if left == 0 || screen.confirms("\(left) changes are sent when you sign in again. Sign out?") {
            try await pantry.clear(.scope(account))
        }
    }
}

extension RecordState {
    var badge: String? {
        switch self {
        case .synced: nil
        case .pending: "saved on this device"
        case .conflict: "choose a version"
        case .rejected: "refused by the service"
        }
    }
}

extension SyncStatus {
    var banner: String? {
        if isSyncing, pendingCount > 0 { return "Sending…" }
        switch waitsFor {
        case nil: return rejectedCount == 0 ? nil : "The service refused \(rejectedCount) changes"
        case .account: return "Sign in to send \(pendingCount) changes"
        case .decision: return "Somebody else has changed the same"
        case .network: return "Saved on this device. Waits for a network"
        case .time(_, .retry), .time(_, .service): return "Saved on this device. Sent when the service answers again"
        case .source, .push: return "Saved on this device only"
        default: return "Saved on this device"
        }
    }
}
