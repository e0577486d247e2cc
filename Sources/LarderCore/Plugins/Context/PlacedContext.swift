import LarderSystem

/// The surroundings of a part that may keep files: a store or a section.
///
/// `@unchecked Sendable`: its variables are constants.
public class PlacedContext: Context, @unchecked Sendable {
    /// The source of places.
    let source: PlaceSource

    init(_ surroundings: Surroundings, of identity: PartIdentity?, from source: PlaceSource) {
        self.source = source
        super.init(surroundings, of: identity)
    }

    /// Returns a folder in the cache folder that only this store or section uses. The folder exists when this returns,
    /// with its files from earlier runs. Keep the returned place as long as the folder is in use.
    ///
    /// Larder keeps a list of every place that it hands out. So a logout also clears the places that no policy names any
    /// more. If a process was killed during such a clearing, Larder calls ``Store/remove(_:)``, or
    /// ``Attachment/cleared(_:discardingUnsent:)`` of a section, before the store answers.
    ///
    /// After a reload, another store may still use the folder. This method then throws, and Larder calls `make` again when
    /// that store is closed. Until then there is no store.
    ///
    /// - Parameter name: distinguishes the places of one resource. Any text that is not empty is allowed.
    /// - Throws: an error if the folder cannot be used. If the store's `make` then throws, the store is replaced by one
    ///   that keeps nothing, unless the app prefers to fail: see ``UnusableCacheAction``.
    public func place(_ name: String) throws -> StorePlace {
        source.isRequested.withLock { $0 = true }
        if name.isEmpty { throw StoreError("a place needs a name") }
        do {
            return try source.take(PlaceName(resource: owner, section: source.section, name))
        } catch let error as Disk.Failure {
            // Only an app that wants the error gets the folder's path. The reason of a `CacheProblem` has no path.
            let cache = source.ifUnusable == .fail && !source.isLate ? " in \(source.places.cacheDirectory)" : ""
            let part = source.section == nil ? "store" : "section"
            throw StoreError("the \(part)'s folder\(cache) cannot be used: \(error)")
        }
    }

    /// Returns a folder of this resource for what a user wrote and nothing else holds. The folder exists when this
    /// returns, and its files from earlier runs are still in it. Blocks.
    ///
    /// The folder is outside the cache folder, so the system does not delete it. No clearing reaches it, and it stays when
    /// no policy names it any more. Several parts, pantries and processes that use the same name get the same folder. The
    /// folders of a section are its own.
    ///
    /// - Parameter name: distinguishes the folders of one resource. Any text that is not empty is allowed.
    /// - Throws: an error if the folder cannot be used. A part that can work without it catches the error; else the policy
    ///   cannot be composed.
    public func dataPlace(_ name: String) throws -> DataPlace {
        try surroundings.data.place(name, of: owner, section: source.section)
    }

    /// Returns a folder that all resources of the pantry share, for what a user wrote and nothing else holds, such as one
    /// database for all of them. It exists and stays as a folder of ``dataPlace(_:)`` does. Blocks.
    ///
    /// Every part that uses the same name gets the same folder, whatever its resource or section. No resource has a
    /// folder of its own in it.
    ///
    /// - Parameter name: distinguishes the folders of the pantry, so begin it with the name of your module. Any text that is
    ///   not empty is allowed.
    /// - Throws: an error if the folder cannot be used, as ``dataPlace(_:)`` does.
    public func sharedDataPlace(_ name: String) throws -> DataPlace {
        // Places of the pantry's own sections have the name of their section before their own.
        try surroundings.data.place(name, of: PlaceName.pantry)
    }

    private var owner: String { resource.isEmpty ? PlaceName.pantry : resource }
}
