import LarderSystem

/// A folder for what a user wrote and nothing else holds, such as changes that were not sent yet.
///
/// ``PlacedContext/dataPlace(_:)`` returns it. Systems do not delete it, and no clearing reaches it. The plugin removes its
/// files when they are no longer needed or the app asks for it.
public struct DataPlace: Sendable {
    /// The full path of the folder. Only its owner has access.
    public let path: String

    /// Makes the folder again if it is missing. Blocks.
    ///
    /// - Throws: an error that says which operation the system refused.
    public func restore() throws {
        do { try Disk.makeFolder(path) } catch { throw DataFolder.failure("\(error)") }
    }
}

/// The folder in which a pantry keeps what users wrote. It is made when it is first needed: for a
/// place that a plugin asks for, or for the identity of the installation.
struct DataFolder: Sendable {
    /// The path; nil if the user has no folder for data.
    let path: String?
    private let cacheDirectory: String

    init(_ path: String?, beside cacheDirectory: String) {
        self.path = path
        self.cacheDirectory = cacheDirectory
    }

    /// Returns a place of a resource, or of one of its sections. Blocks.
    func place(_ name: String, of resource: String, section: String? = nil) throws(StoreError) -> DataPlace {
        if name.isEmpty { throw StoreError("a place needs a name") }
        let place = DataPlace(path: try safePath() + "/" + PlaceName(resource: resource, section: section, name).path)
        do { try Disk.makeFolder(place.path) } catch { throw Self.failure("\(error)") }
        return place
    }

    /// Returns the path of a place that may not exist; nil if no data folder is known.
    func existing(_ name: String, of resource: String, section: String? = nil) -> String? {
        path.map { $0 + "/" + PlaceName(resource: resource, section: section, name).path }
    }

    /// Returns the folder's path, and makes the folder if it is missing. Blocks.
    func root() throws(StoreError) -> String {
        let path = try safePath()
        do { try Disk.makeFolder(path) } catch { throw Self.failure("\(error)") }
        return path
    }

    /// Returns the folder's path, if there is one outside the cache folder.
    private func safePath() throws(StoreError) -> String {
        guard let path else { throw StoreError("no data folder is known; pass `data:` to Pantry") }
        // The cache folder may be deleted at any time.
        if !cacheDirectory.isEmpty, (path + "/").hasPrefix(cacheDirectory + "/") {
            throw Self.failure("it is in the cache folder")
        }
        return path
    }

    static func failure(_ reason: String) -> StoreError { StoreError("the data folder cannot be used: \(reason)") }
}
