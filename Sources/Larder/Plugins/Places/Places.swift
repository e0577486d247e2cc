/// The places below one cache folder, as one pantry uses them.
///
/// Everything is kept in the folder `.places`, which no resource's can be called: the manifest, a file for each pantry that
/// is locked while it lives, the clearings that are not finished, and what is about to be deleted. All methods block, but
/// for ``release(_:)``.
final class Places: Sendable {
    /// Which places are held here, how often, and which are not any more though the manifest does not say so yet.
    struct State {
        var held: [PlaceName: Int] = [:]
        var released: [PlaceName: Int64] = [:]
        /// The file whose name the manifest knows this pantry by.
        var token: Disk.HeldFile?
        /// Whether the manifest lists a place that it must not forget in a power failure.
        var mustSync = false
        var checked: Timestamp?
    }

    /// How long a place stays that nobody uses.
    static let rest = Duration.seconds(7 * 86_400)

    let folder: String
    let world: any World
    /// Whether nothing may be handed out that cannot be written down.
    let isStrict: Bool
    let cacheDirectory: String
    let state = Locked(State())
    /// Held by threads that may block, while the lock of the folder is.
    private let manifest: Exclusive<PlaceManifest>

    init(in cacheDirectory: String, isStrict: Bool, world: any World) {
        self.cacheDirectory = cacheDirectory
        self.isStrict = isStrict
        self.world = world
        folder = cacheDirectory + "/.places"
        manifest = Exclusive(PlaceManifest(cacheDirectory + "/.places/manifest"))
    }

    /// The full path of a place.
    func path(of name: PlaceName) -> String { cacheDirectory + "/" + name.path }

    /// Whether any place was ever handed out.
    var areKnown: Bool { Disk.isThere(folder) }

    var seconds: Int64 { world.now.nanoseconds / 1_000_000_000 }

    /// Runs `body` while nobody else changes what is known of places, with a manifest that is up to date.
    func locked<Result>(_ body: (inout PlaceManifest) throws -> Result) throws -> Result {
        try manifest.withLock { manifest in
            try Disk.locked(folder + "/lock") {
                try manifest.refresh()
                return try body(&manifest)
            }
        }
    }

    // MARK: Handing out

    /// A place for a store, and the clearings that the store must carry out before it answers.
    func take(_ name: PlaceName) throws -> (place: StorePlace, due: [Clearing]) {
        if !areKnown { try Disk.makeFolder(folder) }
        let due = try locked { manifest in
            try hold(name, in: &manifest)
            do {
                try Disk.makeFolder(path(of: name))
                return try clearings().filter { $0.concerns(name) }
            } catch {
                release(name)
                throw error
            }
        }
        return (StorePlace(name, in: self), due)
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
            // Copies that are there can be read from a full disk, and from one that can only be read.
            guard isListed, error.isFull || !isStrict else { throw error }
        }
        state.withLock { state in
            state.held[name, default: 0] += 1
            if !isListed { state.mustSync = true }
        }
    }

    /// The name of this pantry's locked file, made when it is first needed.
    private func token() throws(Disk.Failure) -> String {
        if let file = state.withLock({ $0.token }) { return Self.token(of: file.name) }
        let file = try Disk.HeldFile(in: folder, prefix: Self.holderPrefix)
        state.withLock { $0.token = file }
        try? Disk.reserve(spare, size: Self.spareSize)
        return Self.token(of: file.name)
    }

    /// A place is not used any more. Does not block: the manifest is told with the next change.
    func release(_ name: PlaceName) {
        let now = seconds
        state.withLock { state in
            guard let count = state.held[name] else { return }
            state.held[name] = count > 1 ? count - 1 : nil
            if count == 1, state.token != nil { state.released[name] = now }
        }
    }

    /// Makes the folder of a place again that is held, and lists it again if it is not listed any more.
    func restore(_ name: PlaceName) throws {
        try Disk.makeFolder(folder)
        try locked { manifest in
            try relist(in: &manifest)
            try Disk.makeFolder(path(of: name))
        }
    }

    /// Lists the places that are held again if the manifest was lost: somebody may delete it while places are used.
    func relist(in manifest: inout PlaceManifest) throws {
        let (held, isKnown) = state.withLock { state in
            let isKnown = state.held.isEmpty || state.token?.isInPlace == true
            if !isKnown { (state.token, state.released) = (nil, [:]) }
            return (state.held.keys.sorted(), isKnown)
        }
        for name in held where !isKnown || manifest.listings[name] == nil {
            try manifest.open(name, by: try token(), at: seconds)
        }
    }

    /// Whether places are held here.
    var areHeld: Bool { state.withLock { !$0.held.isEmpty } }

    /// Sees to it that no place that was handed out is forgotten in a power failure.
    func sync() throws {
        guard state.withLock({ $0.mustSync }) else { return }
        for path in [folder + "/manifest", folder, cacheDirectory] { try Disk.sync(path) }
        state.withLock { $0.mustSync = false }
    }

    // MARK: Who holds what

    /// Tells the manifest of the places that are not used any more.
    func flush(_ manifest: inout PlaceManifest) throws(Disk.Failure) {
        let (released, token) = state.withLock { ($0.released.sorted { $0.key < $1.key }, $0.token) }
        guard let token, !released.isEmpty else { return }
        try manifest.close(released.map { (name: $0.key, used: $0.value) }, by: Self.token(of: token.name))
        // One that was taken meanwhile is not among them any more: taking needs the lock too.
        state.withLock { state in
            for (name, _) in released { state.released[name] = nil }
        }
    }

    func isHeldHere(_ name: PlaceName) -> Bool { state.withLock { $0.held[name] != nil } }

    /// Whether somebody uses a place, here or anywhere.
    func isHeld(_ name: PlaceName, by living: Set<String>, in manifest: PlaceManifest) -> Bool {
        isHeldHere(name) || manifest.listings[name]?.holders.isDisjoint(with: living) == false
    }

    /// The tokens in the manifest whose pantries live, this one's included.
    func living(in manifest: PlaceManifest) -> Set<String> {
        let own = state.withLock { $0.token }.map { Self.token(of: $0.name) }
        let tokens = manifest.listings.values.reduce(into: Set<String>()) { $0.formUnion($1.holders) }
        // Places that are held here are counted here: the manifest may be out of date.
        return tokens.filter { $0 != own && Disk.isHeld(folder + "/" + Self.holderPrefix + $0) }
    }

    static let holderPrefix = "holder-"

    static func token(of name: String) -> String { String(name.dropFirst(holderPrefix.count)) }

    // MARK: Clearings

    var spare: String { folder + "/spare" }

    static let spareSize = 4_096

    /// The clearings that are not finished.
    func clearings() throws(Disk.Failure) -> [Clearing] {
        var clearings: [Clearing] = []
        for name in try Disk.list(folder).map(\.name).sorted() where Clearing.isFile(name) {
            clearings.append(Clearing(id: name, bytes: try Disk.read(folder + "/" + name, limit: 1 << 26)))
        }
        return clearings
    }

    /// Writes a clearing down, so that it outlasts everything.
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
