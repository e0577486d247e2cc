/// How a file store puts files in their places and takes them away. All of it blocks.
extension FileStore {
    /// Writes a file beside its place, makes the room that the capacity demands, and puts it in its place. What was there
    /// stays until then. Called while nobody else changes anything.
    ///
    /// - Returns: whether it is kept. What is too old to be found again is not, and neither is what is too large.
    func keep(_ parts: [[UInt8]], as name: String, at time: Timestamp) throws(StoreError) -> Bool {
        let weight = parts.reduce(0) { $0 + $1.count }
        guard world.now - time < maxAge, weight <= capacity else {
            files.remove(name, hash: name.hashValue)
            try remove(name)
            return false
        }
        let former = files.peek(name, hash: name.hashValue)
        var draft = try draft(name, parts, time, weight)
        let insertion = insert(time, as: name, weight: weight)
        var failure: StoreError?
        do throws(StoreError) { try removeAll(insertion.evicted.map(\.id)) } catch { failure = error }
        guard insertion.isKept else {
            draft.discard()
            try remove(name)
            return false
        }
        do throws(StoreError) {
            // Somebody may have cleared the folder away since the draft was written.
            if try !put(draft, as: name) {
                draft = try self.draft(name, parts, time, weight)
                if try !put(draft, as: name) { throw StoreError("the folder is cleared away all the time") }
            }
        } catch {
            draft.discard()
            restore(former, as: name)
            throw error
        }
        if var failure {
            failure.isStored = true
            throw failure
        }
        return true
    }

    /// Marks the file of an entry, if there is one. That takes no room, and happens at once or not at all.
    func expire(_ name: String) throws(StoreError) {
        guard files.peek(name, hash: name.hashValue) != nil else { return }
        do { try Disk.makeReadOnly(path(name)) } catch {
            if !error.isMissing, !error.isNoFile { throw StoreError(error.description) }
        }
    }

    /// Returns the bytes of a file, and whether it may be written to: not, if its entry is expired. Nil when there is no
    /// file.
    func contents(of name: String) throws(StoreError) -> (bytes: [UInt8], isWritable: Bool)? {
        do {
            return try Disk.contents(path(name), limit: Self.mostBytes)
        } catch {
            if error.isMissing || error.isNoFile { return nil }
            throw StoreError(error.description)
        }
    }

    /// Removes a file. A folder of that name is none of the store's.
    func remove(_ name: String) throws(StoreError) {
        do { try Disk.remove(path(name)) } catch {
            if Disk.item(path(name))?.isFolder != true { throw StoreError(error.description) }
        }
    }

    /// Writes a file beside its place. When the disk is full, as much is forgotten as it needs, and it is tried once more.
    private func draft(
        _ name: String, _ parts: [[UInt8]], _ time: Timestamp, _ weight: Int
    ) throws(StoreError) -> Disk.Draft {
        do throws(Disk.Failure) {
            do throws(Disk.Failure) {
                return try Disk.draft(path(name), with: parts, modified: time)
            } catch {
                if error.isMissing {
                    // Systems clear folders of caches away while programs run.
                    try makeFolder()
                } else if !error.isFull || !makeRoom(for: weight, sparing: name) {
                    throw error
                }
                return try Disk.draft(path(name), with: parts, modified: time)
            }
        } catch {
            throw StoreError(error.description)
        }
    }

    /// Forgets files that take up as much room as one of this size needs.
    ///
    /// - Returns: whether it did: not, when all others together take up less.
    private func makeRoom(for weight: Int, sparing name: String) -> Bool {
        let needed = Self.room(of: weight)
        let statistics = files.statistics
        let own = files.peek(name, hash: name.hashValue) == nil ? 0 : Self.room(of: Disk.item(path(name))?.size ?? 0)
        guard statistics.bytes + statistics.entries * (Self.block - 1) - own >= needed else { return false }
        var freed = 0
        let gone = files.evict(sparing: name, mark: world.mark(of: name, hash: name.hashValue)) {
            freed += Self.room(of: $0)
            return freed < needed
        }
        try? removeAll(gone.map(\.id))
        return freed >= needed
    }

    /// The unit in which most file systems give room.
    private static var block: Int { 4_096 }

    /// The room that a file of this size takes up on most file systems.
    private static func room(of size: Int) -> Int { (size + block - 1) / block * block }

    /// Puts a draft in its place. A folder that lies there, which only somebody else can have made, is set aside.
    ///
    /// - Returns: whether the draft was still there.
    private func put(_ draft: Disk.Draft, as name: String) throws(StoreError) -> Bool {
        do throws(Disk.Failure) {
            do throws(Disk.Failure) { try draft.putInPlace() } catch {
                if error.isMissing || Disk.item(path(name))?.isFolder != true { throw error }
                try Disk.move(path(name), to: path(name) + "-\(world.token()).aside")
                try draft.putInPlace()
            }
            return true
        } catch {
            if error.isMissing { return false }
            throw StoreError(error.description)
        }
    }

    /// Knows again of the file that is in its place still.
    private func restore(_ former: Timestamp?, as name: String) {
        if let former, let item = Disk.item(path(name)), !item.isFolder {
            let insertion = insert(former, as: name, weight: item.size)
            try? removeAll(insertion.evicted.map(\.id))
        } else {
            files.remove(name, hash: name.hashValue)
        }
    }
}
