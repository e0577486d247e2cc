import LarderSystem

/// The identity of this installation of the program: random digits in a file of the data folder.
///
/// The digits tell nothing about the device or its user. They are the same in each run, until the data folder is deleted.
final class Installation: Sendable {
    /// The name of the file. No resource's folder can have it.
    static let file = ".installation"
    private static let digits = 32
    /// The longest time that a dump waits for the data folder.
    private static let limit = Duration.seconds(2)

    private let folder: DataFolder
    private let world: any World
    private let known = Locked<String?>(nil)

    init(in folder: DataFolder, world: any World) {
        self.folder = folder
        self.world = world
    }

    /// Returns the identity, and makes it if there is none yet. Returns nil if the data folder cannot be used.
    func id() async -> String? {
        if let id = known.withLock({ $0 }) { return id }
        let search = AwaitableWork(in: world) { [self] in
            try await world.blocking(on: folder.path ?? "") { [self] in try read() }
        }
        guard let id = try? await search.value(within: Self.limit) else { return nil }
        known.withLock { $0 = id }
        return id
    }

    /// Reads the file, or makes it. Several processes that make it at the same time get the same identity. Blocks.
    private func read() throws -> String {
        let path = try folder.root() + "/" + Self.file
        if let id = try Self.id(in: path) { return id }
        // Digits of a stream of their own: in a simulated world, those of other parts stay the same.
        let dice = world.world(of: Self.file)
        let id = dice.token() + dice.token()
        let isDamaged = Disk.isThere(path)
        if isDamaged {
            try Disk.replace(path, with: [Array(id.utf8)])
        } else {
            try Disk.createWhole(path, Array(id.utf8))
        }
        return try Self.id(in: path) ?? id
    }

    /// Returns the identity in a file; nil if there is none or it is damaged.
    ///
    /// - Throws: ``Disk/Failure`` if the file cannot be read now, for example because the device is locked.
    private static func id(in path: String) throws(Disk.Failure) -> String? {
        do throws(Disk.Failure) {
            let text = String(decoding: try Disk.read(path, limit: 1_024), as: UTF8.self)
            return isID(text) ? text : nil
        } catch {
            guard error.isMissing || error.isNotFile || error.code == Disk.tooLarge else { throw error }
            return nil
        }
    }

    private static func isID(_ text: String) -> Bool {
        text.utf8.count == digits && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}
