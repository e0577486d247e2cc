import LarderSystem
import LarderCore

/// Writing, marking and removing files. All of these functions block.
extension FileStore {
    /// Writes a file under a draft name, evicts others until it fits into the capacity, and renames it. The former file
    /// stays until then. The caller must hold the lock `changing`.
    ///
    /// - Returns: whether the file is kept. Files that are too old or too large are not.
    func keep(_ contents: Contents, as name: String, at time: Timestamp) throws(StoreError) -> Bool {
        let weight = contents.weight
        guard files.hasRoom(forPinned: name, hash: name.hashValue, weight: weight) else {
            try expire(name)
            return false
        }
        guard isYoung(time, name), weight <= capacity else {
            files.remove(name, hash: name.hashValue)
            try remove(name)
            return false
        }
        let former = files.peek(name, hash: name.hashValue)
        let formerPayload = payloadFile(of: name)
        var draft = try draft(name, contents: contents, time: time)
        let insertion = insert(time, as: name, weight: weight)
        var failure: StoreError?
        do throws(StoreError) { try removeAll(insertion.evicted.map(\.id)) } catch { failure = error }
        guard insertion.isKept else {
            discard(draft, contents)
            try remove(name)
            return false
        }
        do throws(StoreError) {
            // Another program may have deleted the folder after the draft was written.
            if try !put(draft, as: name) {
                discard(draft, contents)
                draft = try self.draft(name, contents: contents, time: time)
                if try !put(draft, as: name) { throw StoreError("another program keeps deleting the folder") }
            }
        } catch {
            discard(draft, contents)
            restore(former, as: name)
            throw error
        }
        do throws(StoreError) {
            try restorePayload(of: contents, for: name)
            if let formerPayload { try remove(formerPayload) }
        } catch {
            failure = failure ?? error
        }
        if var failure {
            failure.isStored = true
            throw failure
        }
        return true
    }

    /// Marks the file of an entry as expired, if there is one. This needs no disk space and is atomic.
    func expire(_ name: String) throws(StoreError) {
        guard files.peek(name, hash: name.hashValue) != nil else { return }
        do { try Disk.makeReadOnly(path(name)) } catch {
            if !error.isMissing, !error.isNotFile { throw StoreError(error.description) }
        }
    }

    /// Returns the bytes of a file and whether the file is writable. The file of an expired entry is not. Returns nil
    /// if there is no file.
    func contents(of name: String) throws(StoreError) -> (bytes: [UInt8], isWritable: Bool)? {
        do {
            return try Disk.contents(path(name), limit: Self.maximumBytes)
        } catch {
            if error.isMissing || error.isNotFile { return nil }
            throw StoreError(error.description)
        }
    }

    /// Removes a file, its pin, and the file of its payload. A folder of that name does not belong to the store and
    /// stays.
    func remove(_ name: String) throws(StoreError) {
        // The payload goes first: nothing names it when the entry's own file is gone.
        if let payload = payloadFile(of: name) { try remove(payload) }
        try removePin(of: name)
        do { try Disk.remove(path(name)) } catch {
            if Disk.item(path(name))?.isFolder != true { throw StoreError(error.description) }
        }
    }

    /// Writes the files of an entry, the entry's own under a draft name. If the disk is full, evicts as much as a file
    /// needs and tries once more.
    private func draft(_ name: String, contents: Contents, time: Timestamp) throws(StoreError) -> Disk.Draft {
        try makePayload(of: contents, for: name)
        do throws(StoreError) {
            return try headDraft(name, contents: contents, time: time)
        } catch {
            discardPayload(of: contents)
            throw error
        }
    }

    private func discard(_ draft: Disk.Draft, _ contents: Contents) {
        draft.discard()
        discardPayload(of: contents)
    }

    private func headDraft(_ name: String, contents: Contents, time: Timestamp) throws(StoreError) -> Disk.Draft {
        let parts = contents.parts
        do throws(Disk.Failure) {
            do throws(Disk.Failure) {
                return try Disk.draft(path(name), with: parts, modified: time.nanoseconds)
            } catch {
                if error.isMissing {
                    // The system may delete cache folders while programs run.
                    try makeFolder()
                } else if !error.isFull || !makeRoom(for: contents.size, sparing: name) {
                    throw error
                }
                return try Disk.draft(path(name), with: parts, modified: time.nanoseconds)
            }
        } catch {
            throw StoreError(error.description)
        }
    }

    /// Evicts files until they have freed as much disk space as a file of this size needs.
    ///
    /// - Returns: whether enough was freed. If all other files together are smaller, none is evicted.
    func makeRoom(for size: Int, sparing name: String) -> Bool {
        let needed = Self.room(of: size)
        guard files.canEvict(needed, sparing: name, counting: Self.room(of:)) else { return false }
        var freed = 0
        let gone = files.evict(sparing: name, evictionHash: world.evictionHash(of: name, processHash: name.hashValue)) {
            freed += Self.room(of: $0)
            return freed < needed
        }
        try? removeAll(gone.map(\.id))
        return freed >= needed
    }

    /// The unit in which most file systems allocate disk space, in bytes.
    private static var block: Int { 4_096 }

    /// Returns the disk space that a file of this size uses on most file systems.
    private static func room(of size: Int) -> Int { (size + block - 1) / block * block }

    /// Renames a draft to its final name. A folder of that name, which only another program can have made, is moved
    /// aside.
    ///
    /// - Returns: whether the draft still existed.
    private func put(_ draft: Disk.Draft, as name: String) throws(StoreError) -> Bool {
        do throws(Disk.Failure) {
            do throws(Disk.Failure) { try draft.putInPlace() } catch {
                if error.isMissing || Disk.item(path(name))?.isFolder != true { throw error }
                try Disk.move(path(name), to: path(name) + "-\(Disk.randomName()).aside")
                try draft.putInPlace()
            }
            return true
        } catch {
            if error.isMissing { return false }
            throw StoreError(error.description)
        }
    }

    /// Adds the former file to the table again after a write failed. That file is still on disk.
    private func restore(_ former: Timestamp?, as name: String) {
        if let former, let item = Disk.item(path(name)), !item.isFolder {
            let insertion = insert(former, as: name, weight: weight(of: name))
            try? removeAll(insertion.evicted.map(\.id))
        } else {
            files.remove(name, hash: name.hashValue)
        }
    }
}
