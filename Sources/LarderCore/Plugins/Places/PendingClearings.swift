import LarderSystem

/// The clearings that stores still have to carry out.
struct PendingClearings: Sendable {
    /// The unfinished clearings, each with the places that this pantry holds.
    var clearings: [(clearing: Clearing, places: Set<PlaceName>)] = []
    /// The first failure, after everything was tried.
    var failure: (any Error)?

    /// Does the work and keeps its failure if it is the first one.
    mutating func trying(_ work: () throws -> Void) {
        do { try work() } catch { failure = failure ?? error }
    }
}

extension Places {
    private static let trashPrefix = "trash-"

    /// Records a clearing on disk before it is carried out.
    ///
    /// - Returns: whether the clearing applies to any place. If it does not, nothing is written.
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

    /// Returns whether ``cleanUp(after:unwritten:keeping:)`` has anything to do.
    func needsCleanUp(at now: Timestamp) -> Bool {
        guard areKnown else { return false }
        let isSure = state.withLock { state in
            let isChecked = state.checked.map { now >= $0 && now - $0 < .seconds(3_600) } ?? false
            return !isChecked || !state.released.isEmpty
        }
        if isSure { return true }
        let names = (try? Disk.list(folder))?.map(\.name) ?? []
        return names.contains { Clearing.isFile($0) || $0.hasPrefix(Self.trashPrefix) }
    }

    /// Deletes unused places to which a clearing applies and places that were unused for a week. Records the cleared
    /// places, and removes the files of processes that have ended.
    ///
    /// - Parameters:
    ///   - done: the places that stores have cleared, by the id of the clearing.
    ///   - unwritten: a clearing that could not be recorded.
    ///   - named: the places that policies name. They are kept even if they are unused. Nil if places are kept however
    ///     long they were unused.
    /// - Returns: the clearings that stores still have to carry out, and the first failure.
    func cleanUp(
        after done: [String: Set<PlaceName>] = [:], unwritten: Clearing? = nil, keeping named: Set<PlaceName>? = nil
    ) -> PendingClearings {
        var pending = PendingClearings()
        guard areKnown else { return pending }
        var done = done
        for (id, names) in done {
            for name in names.sorted() {
                pending.trying {
                    do { try Disk.sync(path(of: name)) } catch {
                        done[id]?.remove(name)
                        throw error
                    }
                }
            }
        }
        do {
            try locked { manifest in
                cleanUp(&pending, done: done, unwritten: unwritten, named: named, manifest: &manifest)
            }
        } catch {
            pending.failure = pending.failure ?? error
        }
        pending.trying(emptyTrash)
        if named != nil { state.withLock { $0.checked = world.now } }
        return pending
    }

    private func cleanUp(
        _ pending: inout PendingClearings, done: [String: Set<PlaceName>], unwritten: Clearing?,
        named: Set<PlaceName>?, manifest: inout PlaceManifest
    ) {
        pending.trying { try flush(&manifest) }
        let living = removeRemains(&manifest)
        var clearings: [Clearing] = []
        pending.trying { clearings = try self.clearings() }
        if let unwritten { clearings.append(unwritten) }
        func isUnfinished(_ clearing: Clearing, in name: PlaceName) -> Bool {
            clearing.concerns(name) && done[clearing.id]?.contains(name) != true
        }
        func isExpired(_ name: PlaceName, _ listing: PlaceManifest.Listing) -> Bool {
            guard let named, !named.contains(name) else { return false }
            return seconds - listing.used >= Self.unusedLimit.components.seconds
        }
        let unused = manifest.listings.filter { name, listing in
            !isHeld(name, by: living, in: manifest)
                && (isExpired(name, listing) || clearings.contains { isUnfinished($0, in: name) })
        }
        pending.trying { try discard(unused.keys.sorted(), &manifest) }
        for clearing in clearings {
            let left = Set(manifest.listings.keys.filter { isUnfinished(clearing, in: $0) })
            pending.trying { try record(left, of: clearing, isWritten: clearing != unwritten) }
            let here = left.filter(isHeldHere)
            if !here.isEmpty { pending.clearings.append((clearing, here)) }
        }
        pending.trying { try Disk.sync(folder) }
        if manifest.isWasteful { pending.trying { try manifest.compact() } }
    }

    /// Removes the files of processes that have ended.
    ///
    /// - Returns: the tokens of the other pantries that are in use.
    private func removeRemains(_ manifest: inout PlaceManifest) -> Set<String> {
        for name in (try? Disk.list(folder))?.map(\.name) ?? [] {
            let isLeft =
                name.hasSuffix(Disk.temporarySuffix)
                || name.hasPrefix(Self.holderPrefix) && !Disk.isHeld(folder + "/" + name)
            if isLeft { try? Disk.remove(folder + "/" + name) }
        }
        if Disk.isThere(spare) { try? Disk.reserve(spare, size: Self.spareSize) }
        let living = living(in: manifest)
        let own = state.withLock { $0.token }.map { Set([Self.token(of: $0.name)]) } ?? []
        if manifest.removeHolders(except: living.union(own), at: seconds) { try? manifest.compact() }
        return living
    }

    /// Moves places to where no store finds them. ``emptyTrash()`` deletes them afterwards.
    private func discard(_ names: [PlaceName], _ manifest: inout PlaceManifest) throws {
        if names.isEmpty { return }
        var pending = PendingClearings()
        var gone: [PlaceName] = []
        var folders: Set<String> = []
        for name in names {
            let holder = cacheDirectory + "/" + name.folder
            pending.trying {
                do throws(Disk.Failure) {
                    _ = try Disk.take(name.name, outOf: holder, to: folder + "/" + Self.trashPrefix + Disk.randomName())
                } catch {
                    throw StoreError("cannot delete an unused place: \(error)")
                }
                gone.append(name)
                folders.insert(holder)
            }
        }
        for holder in folders.sorted() {
            Disk.removeEmptyFolder(holder)
            pending.trying { try Disk.sync(holder) }
        }
        // The manifest forgets the places after the moves have reached the disk.
        for path in [folder, cacheDirectory] { pending.trying { try Disk.sync(path) } }
        pending.trying { try manifest.forget(gone) }
        if let failure = pending.failure { throw failure }
    }

    /// Records the places that a clearing still has to reach, or deletes its file if there are none.
    private func record(_ left: Set<PlaceName>, of clearing: Clearing, isWritten: Bool) throws {
        if left.isEmpty { return try Disk.remove(folder + "/" + clearing.id) }
        if clearing.places == left, isWritten { return }
        var rest = clearing
        rest.places = left
        try write(rest)
    }

    private func emptyTrash() throws {
        var pending = PendingClearings()
        for name in try Disk.list(folder).map(\.name).sorted() where name.hasPrefix(Self.trashPrefix) {
            pending.trying {
                do throws(Disk.Failure) { try Disk.removeTree(folder + "/" + name) } catch {
                    throw StoreError("cannot delete an unused place: \(error)")
                }
            }
        }
        if let failure = pending.failure { throw failure }
    }
}
