import LarderSystem

/// A folder in which a store keeps its files.
///
/// ``PlacedContext/place(_:)`` returns it. A store holds it as long as it uses the folder. A held place is cleared through
/// its store. Any other place is deleted whole when a clearing applies to it or when it was unused for a week.
public final class StorePlace: Sendable {
    /// The full path of the folder. The folder exists when the place is handed out, and only its owner has access.
    public let path: String
    let name: PlaceName
    private let places: Places

    init(_ name: PlaceName, in places: Places) {
        self.name = name
        self.places = places
        path = places.path(of: name)
    }

    deinit { places.release(name) }

    /// The clearings of the resource by other processes from now on, for ``Store/changes``. Each access returns a new
    /// stream. Nil where there are no other processes.
    ///
    /// Each change is one of all entries, because the names of accounts, tags and keys are not passed on. A store whose
    /// other processes tell of no changes returns this. So the tiers above it drop the copies that were cleared.
    public var clearings: AsyncStream<StoreChange>? {
        places.world.hasOtherProcesses ? places.clearingWatch.changes(of: name.folder) : nil
    }

    /// Makes the folder again if it is missing. Systems may delete cache folders while programs run. Blocks.
    ///
    /// - Throws: an error that says which operation the system refused.
    public func restore() throws {
        if Disk.item(path)?.isFolder != true { try places.restore(name) }
    }
}
