import Larder
public import Observation

/// The records of a query on a screen.
///
/// ```swift
/// let mine = collections.live(Query(Collection.owner == me))
///
/// if mine.isLoading { showSpinner() }
/// list.show(mine.records)
/// banner.show(mine.error ?? (mine.isComplete ? nil : "Not everything was loaded yet"))
/// ```
///
/// It shows what is on the device, and follows each change: of the user, of the service, and of another process. It also follows
/// reloads of the policy. It lives no longer than its owner keeps it: with the last reference, it stops to listen.
///
/// Its records stay in the account that was signed in when it was made. When another account signs in, make another one. When
/// the account is cleared, the records go.
///
/// All members may be used from any thread. Changes can be observed: they are made in the actor in which this was made. To
/// show one consistent state, read ``page`` once.
public final class LiveRecords<Value: Sendable>: Observable, Sendable {
    private let latest: LatestValue<RecordPage<Value>?>

    fileprivate init(_ latest: LatestValue<RecordPage<Value>?>) { self.latest = latest }

    /// The records with all that belongs to them; nil until they were read for the first time, which takes no network.
    public var page: RecordPage<Value>? { latest.value }

    /// The records, in the order of the query. Each has its ``Record/state``.
    public var records: [Record<Value>] { page?.records ?? [] }

    /// Whether all records of the service are known here: see ``RecordPage/isComplete``.
    public var isComplete: Bool { page?.isComplete ?? false }

    /// Whether the records were not read yet.
    public var isLoading: Bool { page == nil }

    /// The error because of which the records could not be read now; nil if there is none. The records are those of the last
    /// time then.
    public var error: (any Error)? { page?.error }
}

extension Records {
    /// Returns the records of a query for a screen, and begins to read them. See ``LiveRecords``.
    ///
    /// - Parameters:
    ///   - query: the query. If it cannot be asked, the error tells why.
    ///   - isolation: the actor in which the records change. By default that of the caller, so on the main actor none changes
    ///     while a view is drawn.
    public func live(
        _ query: Query = Query(), isolation: isolated (any Actor)? = #isolation
    ) -> LiveRecords<Value> {
        do {
            let world = try attachment().world
            let latest = LatestValue<RecordPage<Value>?>(nil, on: isolation)
            latest.follow(observe(query), in: world) { $0 }
            return LiveRecords(latest)
        } catch {
            let page = coding.page([], isComplete: false, error: error)
            return LiveRecords(LatestValue(page, on: isolation))
        }
    }
}
