public import Larder
public import LarderSystem
public import Observation

/// The state between records and the service on a screen.
///
/// ```swift
/// let sync = collections.liveStatus()
/// badge.show(sync.pendingCount)
/// banner.show(sync.waitsFor.map { "Waits for \($0)" })
/// ```
///
/// It follows each change of the queue, also by another process, each run, the network, and reloads of the policy. Nothing is asked
/// again and again. It lives no longer than its owner keeps it: with the last reference, it stops to listen.
///
/// All members may be used from any thread. Changes can be observed: they are made in the actor in which this was made. To
/// show one consistent state, read ``status`` once.
public final class LiveSyncStatus: Observable, Sendable {
    private let latest: LatestValue<SyncStatus>

    fileprivate init(_ latest: LatestValue<SyncStatus>) { self.latest = latest }

    /// The status. Until it was read for the first time, nothing waits.
    public var status: SyncStatus { latest.value }

    /// A stream of the present status and of each new one, for UIKit, AppKit and programs without a screen. A slow reader gets
    /// the latest one only. Each access returns a new stream, which ends with this object.
    public var statuses: AsyncStream<SyncStatus> { latest.values }

    /// The number of changes that wait for the service.
    public var pendingCount: Int { status.pendingCount }

    /// The number of changes that are not sent any more, because the service refused them, for example.
    public var rejectedCount: Int { status.rejectedCount }

    /// The time at which the last complete pull began: see ``SyncStatus/lastSync``.
    public var lastSync: Timestamp? { status.lastSync }

    /// Whether this process is bringing records and the service together now.
    public var isSyncing: Bool { status.isSyncing }

    /// The time at which the oldest of the waiting changes was made; nil if none waits.
    public var oldestPending: Timestamp? { status.oldestPending }

    /// The reason for which changes wait; nil if none waits.
    public var waitsFor: WaitReason? { status.waitsFor }
}

extension Records {
    /// Returns the state between the records and the service for a screen, and begins to read it. See ``LiveSyncStatus``.
    ///
    /// It stays in the account that was signed in when it was made. If there are no such records, or nobody is signed in, it
    /// says that nothing waits: make another one then.
    ///
    /// - Parameter isolation: the actor in which the status changes. By default that of the caller.
    public func liveStatus(isolation: isolated (any Actor)? = #isolation) -> LiveSyncStatus {
        let latest = LatestValue(SyncStatus(), on: isolation)
        if let attachment = try? attachment(), let table = try? table() {
            let (statuses, continuation) = AsyncStream<SyncStatus>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let follower = RecordsFollower(of: self) { $0.news(of: table) }
            let task = attachment.world.spawn {
                var shown = SyncStatus()
                await follower.follow(attachment) { attachment in
                    // While the database cannot be read, the last status stays.
                    if let status = try? await attachment.status(of: table), status != shown {
                        shown = status
                        continuation.yield(status)
                    }
                    return !Task.isCancelled
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
            latest.follow(statuses, in: attachment.world) { $0 }
        }
        return LiveSyncStatus(latest)
    }
}

extension Pantry {
    /// Returns the state between the records of all resources and their services for a screen, and begins to read it. See
    /// ``LiveSyncStatus``.
    ///
    /// It is about the accounts that are signed in at each change: see ``syncStatus()``. If no resource has records when it is
    /// made, it says that nothing waits.
    ///
    /// - Parameter isolation: the actor in which the status changes. By default that of the caller.
    public func liveSyncStatus(isolation: isolated (any Actor)? = #isolation) -> LiveSyncStatus {
        let latest = LatestValue(SyncStatus(), on: isolation)
        if let world = recordsAttachments.first?.world {
            let (statuses, continuation) = AsyncStream<SyncStatus>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let task = world.spawn { [weak self, events] in
                var shown = SyncStatus()
                let news = PantryNews(events, in: world)
                for await _ in news.stream {
                    guard let self else { break }
                    news.listen(to: recordsAttachments)
                    if let status = try? await syncStatus(), status != shown {
                        shown = status
                        continuation.yield(status)
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
            latest.follow(statuses, in: world) { $0 }
        }
        return LiveSyncStatus(latest)
    }
}
