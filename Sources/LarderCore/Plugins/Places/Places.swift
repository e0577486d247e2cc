import LarderSystem

/// The places below one cache folder, as one pantry uses them.
///
/// Their records are in the folder `.places`, whose name no resource's folder can have. It contains the manifest, a
/// file for each pantry, the unfinished clearings, and the places that are about to be deleted. The file of a pantry
/// stays locked while the pantry is in use. All methods block, except ``release(_:)``.
final class Places: Sendable {
    /// The places that this pantry holds.
    struct State {
        /// The held places, and how often each is held.
        var held: [PlaceName: Int] = [:]
        /// The released places that the manifest still lists as held, and the time of their last use in seconds since
        /// 1970.
        var released: [PlaceName: Int64] = [:]
        /// The locked file whose name stands for this pantry in the manifest.
        var token: Disk.HeldFile?
        /// Whether the manifest lists a place that would be lost in a power failure.
        var mustSync = false
        var isClosed = false
        var checked: Timestamp?
    }

    /// The time after which an unused place is deleted.
    static let unusedLimit = Duration.seconds(7 * 86_400)

    let folder: String
    let world: any World
    /// Whether a place is refused if the manifest cannot be written.
    let isStrict: Bool
    let cacheDirectory: String
    let state = Locked(State())
    /// The clearings of all processes.
    let cleared: ClearingLog
    /// Tells the stores of clearings by other processes.
    let clearingWatch: ClearingWatch
    /// The manifest, used only by threads that may block and while the lock of the folder is held.
    private let manifest: BlockingLock<PlaceManifest>

    init(in cacheDirectory: String, isStrict: Bool, world: any World) {
        self.cacheDirectory = cacheDirectory
        self.isStrict = isStrict
        self.world = world
        folder = cacheDirectory + "/.places"
        cleared = ClearingLog(in: cacheDirectory + "/.places/cleared")
        clearingWatch = ClearingWatch(cleared, in: world)
        manifest = BlockingLock(PlaceManifest(cacheDirectory + "/.places/manifest"))
    }

    /// Returns the full path of a place.
    func path(of name: PlaceName) -> String { cacheDirectory + "/" + name.path }

    /// Whether any place was ever handed out.
    var areKnown: Bool { Disk.isThere(folder) }

    var seconds: Int64 { world.now.nanoseconds / 1_000_000_000 }

    /// Runs `body` with an up-to-date manifest, while no other thread or process changes it.
    func locked<Result>(_ body: (inout PlaceManifest) throws -> Result) throws -> Result {
        try manifest.withLock { manifest in
            try Disk.locked(folder + "/lock") {
                try manifest.refresh()
                return try body(&manifest)
            }
        }
    }

    // MARK: Handing out

    /// Hands out a place to a store.
    ///
    /// - Returns: the place, and the clearings that the store must carry out before it answers.
    func take(_ name: PlaceName) throws -> (place: StorePlace, clearings: [Clearing]) {
        if !areKnown { try Disk.makeFolder(folder) }
        cleared.open()
        let clearings = try locked { manifest in
            try hold(name, in: &manifest)
            do {
                try Disk.makeFolder(path(of: name))
                return try self.clearings().filter { $0.concerns(name) }
            } catch {
                release(name)
                throw error
            }
        }
        return (StorePlace(name, in: self), clearings)
    }

    private func hold(_ name: PlaceName, in manifest: inout PlaceManifest) throws(Disk.Failure) {
        let isListed = manifest.listings[name] != nil
        let isHeld = state.withLock { state in
            guard state.held[name] != nil || state.released[name] != nil else { return false }
            state.released[name] = nil
            state.held[name, default: 0] += 1
            return true
        }
        if isHeld { return }
        do throws(Disk.Failure) {
            try manifest.open(name, by: try token(), at: seconds)
        } catch {
            // The copies in a listed place can still be read if the disk is full or read-only.
            guard isListed, error.isFull || !isStrict else { throw error }
        }
        state.withLock { state in
            state.held[name, default: 0] += 1
            if !isListed { state.mustSync = true }
        }
    }

    /// Returns the token of this pantry. Makes its locked file on the first call.
    private func token() throws(Disk.Failure) -> String {
        if let file = state.withLock({ $0.token }) { return Self.token(of: file.name) }
        let file = try Disk.HeldFile(in: folder, prefix: Self.holderPrefix)
        let isClosed = state.withLock { state in
            if !state.isClosed { state.token = file }
            return state.isClosed
        }
        // A closed pantry holds no locks, because a suspended app that holds one is ended.
        if isClosed {
            try? Disk.remove(folder + "/" + file.name)
            throw Disk.Failure("use a place of a closed pantry", Disk.closed)
        }
        try? Disk.reserve(spare, size: Self.spareSize)
        return Self.token(of: file.name)
    }

    /// Releases a place. Does not block: the next change of the manifest records it.
    func release(_ name: PlaceName) {
        let now = seconds
        state.withLock { state in
            guard let count = state.held[name] else { return }
            state.held[name] = count > 1 ? count - 1 : nil
            if count == 1, state.token != nil { state.released[name] = now }
        }
    }

    /// Makes the folder of a held place again if it is missing, and lists the place again if the manifest does not list
    /// it.
    func restore(_ name: PlaceName) throws {
        try Disk.makeFolder(folder)
        cleared.open()
        try locked { manifest in
            try relist(in: &manifest)
            try Disk.makeFolder(path(of: name))
        }
    }

    /// Lists the held places again if the manifest was lost. The cache folder may be deleted while places are in use.
    func relist(in manifest: inout PlaceManifest) throws {
        let (held, isKnown) = state.withLock { state -> ([PlaceName], Bool) in
            if state.isClosed { return ([], true) }
            let isKnown = state.held.isEmpty || state.token?.isInPlace == true
            if !isKnown { (state.token, state.released) = (nil, [:]) }
            return (state.held.keys.sorted(), isKnown)
        }
        for name in held where !isKnown || manifest.listings[name] == nil {
            try manifest.open(name, by: try token(), at: seconds)
        }
    }

    /// Whether this pantry holds any place.
    var areHeld: Bool { state.withLock { !$0.held.isEmpty } }

    /// Writes the manifest to the disk, so that no place that was handed out is lost in a power failure.
    func sync() throws {
        guard state.withLock({ $0.mustSync }) else { return }
        for path in [folder + "/manifest", folder, cacheDirectory] { try Disk.sync(path) }
        state.withLock { $0.mustSync = false }
    }

    // MARK: Holders

    /// Records the released places in the manifest.
    func flush(_ manifest: inout PlaceManifest) throws(Disk.Failure) {
        let (released, token) = state.withLock { ($0.released.sorted { $0.key < $1.key }, $0.token) }
        guard let token, !released.isEmpty else { return }
        try manifest.close(released.map { (name: $0.key, used: $0.value) }, by: Self.token(of: token.name))
        // None of these places was taken meanwhile, because taking a place needs the lock too.
        state.withLock { state in
            for (name, _) in released { state.released[name] = nil }
        }
    }

    /// Gives up the lock that stands for this pantry, because no store of it uses a place any more. Its own clearings
    /// still delete no place whole. Blocks.
    func close() {
        let token = state.withLock { state in
            state.isClosed = true
            defer { state.token = nil }
            return state.token
        }
        if let token { try? Disk.remove(folder + "/" + token.name) }
    }

    func isHeldHere(_ name: PlaceName) -> Bool { state.withLock { $0.held[name] != nil } }

    /// Returns whether this pantry or another one uses a place.
    func isHeld(_ name: PlaceName, by living: Set<String>, in manifest: PlaceManifest) -> Bool {
        isHeldHere(name) || manifest.listings[name]?.holders.isDisjoint(with: living) == false
    }

    /// Returns the tokens of the other pantries that are in use.
    func living(in manifest: PlaceManifest) -> Set<String> {
        let own = state.withLock { $0.token }.map { Self.token(of: $0.name) }
        let tokens = manifest.listings.values.reduce(into: Set<String>()) { $0.formUnion($1.holders) }
        // This pantry's own token is left out: `state` knows its places better than the manifest, which may be out of
        // date.
        return tokens.filter { $0 != own && Disk.isHeld(folder + "/" + Self.holderPrefix + $0) }
    }

    static let holderPrefix = "holder-"

    static func token(of name: String) -> String { String(name.dropFirst(holderPrefix.count)) }

    // MARK: Clearings

    /// Tells the other processes of a clearing.
    ///
    /// - Returns: the claims of those that may be writing without having seen it.
    func announce(_ clearing: Clearing) throws -> ClearingLog.OthersClaims {
        guard areKnown || areHeld else { return ClearingLog.OthersClaims() }
        try Disk.makeFolder(folder)
        return try locked { _ in try cleared.add(clearing.selection, of: clearing.folder) }
    }

    var spare: String { folder + "/spare" }

    static let spareSize = 4_096

    /// Returns the unfinished clearings.
    func clearings() throws(Disk.Failure) -> [Clearing] {
        var clearings: [Clearing] = []
        for name in try Disk.list(folder).map(\.name).sorted() where Clearing.isFile(name) {
            clearings.append(Clearing(id: name, bytes: try Disk.read(folder + "/" + name, limit: 1 << 26)))
        }
        return clearings
    }

    /// Returns the unfinished clearings that apply to any of these places.
    func clearings(of names: Set<PlaceName>) throws -> [Clearing] {
        try locked { _ in try clearings().filter { names.contains(where: $0.concerns) } }
    }

    /// Records a clearing so that it survives a crash and a power failure. Uses the reserved file if the disk is full.
    func write(_ clearing: Clearing) throws(Disk.Failure) {
        let path = folder + "/" + clearing.id
        do throws(Disk.Failure) {
            try Disk.replaceDurably(path, with: clearing.bytes)
        } catch {
            guard error.isFull else { throw error }
            try Disk.use(reserved: spare, as: path, for: clearing.bytes)
        }
        try Disk.sync(folder)
    }
}
