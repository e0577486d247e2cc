/// The work that clearings leave for stores.
struct Settlement: Sendable {
    /// Places that are held here, which their stores have to clear.
    var due: [(clearing: Clearing, places: Set<PlaceName>)] = []
    /// The first of the failures, after everything was tried.
    var failure: (any Error)?

    /// Keeps the first failure.
    mutating func trying(_ work: () throws -> Void) {
        do { try work() } catch { failure = failure ?? error }
    }
}

extension Places {
    private static let trashPrefix = "trash-"

    /// Writes a clearing down before it is carried out.
    ///
    /// - Returns: whether there is any place that it is about. If there is none, nothing is written.
    func begin(_ clearing: Clearing) throws -> Bool {
        guard areKnown || areHeld else { return false }
        try Disk.makeFolder(folder)
        return try locked { manifest in
            try relist(in: &manifest)
            guard manifest.listings.keys.contains(where: clearing.concerns) else { return false }
            try write(clearing)
            return true
        }
    }

    /// Whether there is anything for ``settle(_:unwritten:keeping:)`` to do.
    func needsSettling(at now: Timestamp) -> Bool {
        guard areKnown else { return false }
        let isSure = state.withLock { state in
            let isChecked = state.checked.map { now >= $0 && now - $0 < .seconds(3_600) } ?? false
            return !isChecked || !state.released.isEmpty
        }
        if isSure { return true }
        let names = (try? Disk.list(folder))?.map(\.name) ?? []
        return names.contains { Clearing.isFile($0) || $0.hasPrefix(Self.trashPrefix) }
    }

    /// Deletes the places that clearings are about and nobody holds, and those that nobody used for long; notes what is
    /// done, and removes what is left of processes that have ended.
    ///
    /// - Parameters:
    ///   - done: the places that stores have cleared, for clearings by their ids.
    ///   - unwritten: a clearing that could not be written down.
    ///   - named: the places that policies name, which stay though nobody uses them; nil if time is not looked at.
    func settle(
        _ done: [String: Set<PlaceName>] = [:], unwritten: Clearing? = nil, keeping named: Set<PlaceName>? = nil
    ) -> Settlement {
        var settlement = Settlement()
        guard areKnown else { return settlement }
        var done = done
        for (id, names) in done {
            for name in names.sorted() {
                settlement.trying {
                    do { try Disk.sync(path(of: name)) } catch {
                        done[id]?.remove(name)
                        throw error
                    }
                }
            }
        }
        do {
            try locked { manifest in settle(&settlement, done, unwritten, named, &manifest) }
        } catch {
            settlement.failure = settlement.failure ?? error
        }
        settlement.trying(emptyTrash)
        if named != nil { state.withLock { $0.checked = world.now } }
        return settlement
    }

    private func settle(
        _ settlement: inout Settlement, _ done: [String: Set<PlaceName>], _ unwritten: Clearing?,
        _ named: Set<PlaceName>?, _ manifest: inout PlaceManifest
    ) {
        settlement.trying { try flush(&manifest) }
        let living = tidy(&manifest)
        var clearings: [Clearing] = []
        settlement.trying { clearings = try self.clearings() }
        if let unwritten { clearings.append(unwritten) }
        func isDue(_ clearing: Clearing, in name: PlaceName) -> Bool {
            clearing.concerns(name) && done[clearing.id]?.contains(name) != true
        }
        func isOutlived(_ name: PlaceName, _ listing: PlaceManifest.Listing) -> Bool {
            guard let named, !named.contains(name) else { return false }
            return seconds - listing.used >= Self.rest.components.seconds
        }
        let useless = manifest.listings.filter { name, listing in
            !isHeld(name, by: living, in: manifest)
                && (isOutlived(name, listing) || clearings.contains { isDue($0, in: name) })
        }
        settlement.trying { try discard(useless.keys.sorted(), &manifest) }
        for clearing in clearings {
            let left = Set(manifest.listings.keys.filter { isDue(clearing, in: $0) })
            settlement.trying { try leave(left, of: clearing, isWritten: clearing != unwritten) }
            let here = left.filter(isHeldHere)
            if !here.isEmpty { settlement.due.append((clearing, here)) }
        }
        settlement.trying { try Disk.sync(folder) }
        if manifest.isWasteful { settlement.trying { try manifest.compact() } }
    }

    /// Removes what processes have left behind that have ended.
    ///
    /// - Returns: the tokens of the others that live.
    private func tidy(_ manifest: inout PlaceManifest) -> Set<String> {
        for name in (try? Disk.list(folder))?.map(\.name) ?? [] {
            let isLeft =
                name.hasSuffix(Disk.temporarySuffix)
                || name.hasPrefix(Self.holderPrefix) && !Disk.isHeld(folder + "/" + name)
            if isLeft { try? Disk.remove(folder + "/" + name) }
        }
        if Disk.isThere(spare) { try? Disk.reserve(spare, size: Self.spareSize) }
        let living = living(in: manifest)
        let own = state.withLock { $0.token }.map { Set([Self.token(of: $0.name)]) } ?? []
        if manifest.dismiss(except: living.union(own), at: seconds) { try? manifest.compact() }
        return living
    }

    /// Takes places away from where stores would find them. What they hold is deleted afterwards.
    private func discard(_ names: [PlaceName], _ manifest: inout PlaceManifest) throws {
        if names.isEmpty { return }
        var settlement = Settlement()
        var gone: [PlaceName] = []
        var folders: Set<String> = []
        for name in names {
            let holder = cacheDirectory + "/" + name.folder
            settlement.trying {
                do throws(Disk.Failure) {
                    _ = try Disk.take(name.name, outOf: holder, to: folder + "/" + Self.trashPrefix + Disk.randomName())
                } catch {
                    throw StoreError("a place that is not used cannot be deleted: \(error)")
                }
                gone.append(name)
                folders.insert(holder)
            }
        }
        for holder in folders.sorted() {
            Disk.removeEmptyFolder(holder)
            settlement.trying { try Disk.sync(holder) }
        }
        // Only when they are certainly away are they forgotten.
        for path in [folder, cacheDirectory] { settlement.trying { try Disk.sync(path) } }
        settlement.trying { try manifest.forget(gone) }
        if let failure = settlement.failure { throw failure }
    }

    /// Writes down what is left of a clearing.
    private func leave(_ left: Set<PlaceName>, of clearing: Clearing, isWritten: Bool) throws {
        if left.isEmpty { return try Disk.remove(folder + "/" + clearing.id) }
        if clearing.places == left, isWritten { return }
        var rest = clearing
        rest.places = left
        try write(rest)
    }

    private func emptyTrash() throws {
        var settlement = Settlement()
        for name in try Disk.list(folder).map(\.name).sorted() where name.hasPrefix(Self.trashPrefix) {
            settlement.trying {
                do throws(Disk.Failure) { try Disk.removeTree(folder + "/" + name) } catch {
                    throw StoreError("a place that is not used cannot be deleted: \(error)")
                }
            }
        }
        if let failure = settlement.failure { throw failure }
    }
}
