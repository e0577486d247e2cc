/// A folder in which a store keeps its files.
///
/// ``Context/place(_:)`` gives it. A store holds it as long as it uses the folder: a place that somebody holds is cleared
/// through its store, any other is deleted whole when a clearing concerns it, or when it was not used for a week.
public final class StorePlace: Sendable {
    /// The full path of the folder. It is there, for its owner alone, when the place is handed out.
    public let path: String
    let name: PlaceName
    private let places: Places

    init(_ name: PlaceName, in places: Places) {
        self.name = name
        self.places = places
        path = places.path(of: name)
    }

    deinit { places.release(name) }

    /// Makes the folder again if it is not there any more: systems clear folders of caches away while programs run. Blocks.
    ///
    /// - Throws: a description of what the system refused.
    public func restore() throws {
        if Disk.item(path)?.isFolder != true { try places.restore(name) }
    }
}
