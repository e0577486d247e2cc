import LarderSystem

/// The place of an answer in the store.
struct EntryLocation {
    /// The key of the entry.
    var key: Key
    /// The names of the fields by which the answers vary.
    var names: [String] = []
    /// The fields by which the answers vary; nil if they do not vary.
    var variation: Variation?
    /// Whether the store had the marker of the variation when it was last written or read.
    var isMarked = false
    /// Whether the answer must not be kept, because it matches no other request. The place is then that of the older
    /// copy.
    var matchesNoOther = false
}

extension StoreAccess {
    /// Returns the place of an answer, and remembers by which fields it varies. An answer that is saved asks for it in
    /// its turn, because answers before it may have changed it.
    ///
    /// - Parameters:
    ///   - isSaved: whether the answer will be saved. If so, the store is searched for the marker of a key that is not
    ///     known to vary.
    ///   - isKept: whether the answer may be kept. If not, requests with different fields share no call, because it may
    ///     be for one user only.
    @discardableResult
    func place(
        of entry: Entry, for request: Request, isSaved: Bool = true, isKept: Bool = true
    ) async -> EntryLocation {
        let names = Variation.normalized(entry.metadata.variesBy)
        let key = request.key
        if !variations.knows(key) {
            if names?.isEmpty == true {
                if isKept { variations.addUniform(request) } else { variations.removeUniform(key) }
                return EntryLocation(key: key)
            }
            if isSaved { await learnVariation(of: key) }
        }
        guard let names else {
            variations.removeUniform(key)
            return EntryLocation(key: variations.entryKey(of: request), matchesNoOther: true)
        }
        return variations.add(names, for: request, generation: world.token())
    }

    /// Writes an answer in its place, with the marker of its variation if the store has none.
    ///
    /// The marker is written again with each new answer. Nothing reads it while the process remembers the variation. So
    /// a store that evicts unused entries would otherwise evict it first.
    func keep(_ entry: Entry, at place: EntryLocation, of key: Key, isUnchanged: Bool) async throws -> Bool {
        let entryKey = place.key
        guard let variation = place.variation, entryKey.isVariant else {
            return try await keep(entry, for: entryKey, isUnchanged: isUnchanged)
        }
        var markerFailure: StoreError?
        if !place.isMarked || !isUnchanged {
            do {
                let marker = variation.marker(at: entry.metadata.confirmedAt)
                if try await keep(marker, for: key, isUnchanged: false) { variations.marked(variation, of: key) }
            } catch let error as StoreError where error.isStored || place.isMarked {
                // Some tier has the marker, so the answer can be found there.
                markerFailure = error
            }
        }
        var entry = entry
        let tag = VariantTag.of(key)
        if !entry.metadata.tags.contains(tag) { entry.metadata.tags.append(tag) }
        // With another variation, the copy is under another key.
        let isKept = try await keep(entry, for: entryKey, isUnchanged: isUnchanged && place.isMarked)
        if var markerFailure {
            markerFailure.isStored = isKept
            throw markerFailure
        }
        return isKept
    }

    /// Returns the tag of the variants that a selection includes. Returns nil if it selects no key that varies.
    func variantTag(of selection: Selection) async -> String? {
        guard case .key(let key) = selection, !key.isVariant else { return nil }
        if variations.knows(key) { return VariantTag.of(key) }
        return await store.mayVary(key) ? VariantTag.of(key) : nil
    }

    /// Remembers how answers for a key vary if the store has the marker.
    func learnVariation(of key: Key) async {
        guard let found = try? await store.read(Reading(key, needsPayload: false)) else { return }
        if let variation = Variation(marker: found.entry) { variations.learn(variation, of: key) }
    }

    /// Returns whether the store has a copy for a request that was neither called gone by the origin nor cleared.
    func contains(_ request: Request) async throws -> Bool {
        do {
            if !variations.knows(request.key) {
                guard try await store.contains(request.key) else { return false }
                // It may be the marker, which answers no request.
                await learnVariation(of: request.key)
            }
            let key = variations.entryKey(of: request)
            return outdatedReason(of: key)?.reasonToHide == nil ? try await store.contains(key) : false
        } catch let error as StoreError where error.isOnlyNotOpen {
            return false
        }
    }

    /// Returns a page of the list of copies, without the markers of keys whose answers vary.
    func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        var page = try await store.list(after: cursor, most: count)
        page.entries.removeAll { Variation.isMarker($0.metadata, size: $0.size) || isOfAnotherSource($0) }
        for index in page.entries.indices {
            page.entries[index].metadata = page.entries[index].metadata.withoutVariantTag
        }
        return page
    }

    /// Returns the number of copies that are of another source, so that they are not used. Returns nil if they cannot be
    /// counted.
    func countUnusedCopies() async -> Int? {
        var count = 0
        do {
            try await store.forEachListed {
                let isCopy = !Variation.isMarker($0.metadata, size: $0.size)
                count += isCopy && isOfAnotherSource($0) ? 1 : 0
            }
        } catch {
            return nil
        }
        return count
    }

    /// Returns whether a listed entry is of another source. Without a source, all entries can be used.
    private func isOfAnotherSource(_ listed: ListedEntry) -> Bool {
        news.source != nil && listed.metadata.source != nil
    }
}

extension Store {
    /// Returns whether the store has the marker of a key whose answers vary. Returns true if the marker cannot be read,
    /// and false if the store is not open.
    func mayVary(_ key: Key) async -> Bool {
        do {
            return try await read(Reading(key, needsPayload: false)).map { Variation(marker: $0.entry) != nil } ?? false
        } catch let error as StoreError where error.isOnlyNotOpen {
            return false
        } catch {
            return true
        }
    }

    /// Marks the selected entries as expired. For a key, marks its variants too.
    ///
    /// - Throws: the error of the store. It says that answers vary if the store cannot expire entries by their tag.
    func expireWithVariants(_ selection: Selection) async throws {
        if case .key(let key) = selection, !key.isVariant, await mayVary(key) {
            try await expireVariants(with: VariantTag.of(key))
        }
        try await expire(selection)
    }

    /// Marks the variants with a tag as expired.
    func expireVariants(with tag: String) async throws {
        do {
            try await expire(.tag(tag))
        } catch var failure as StoreError where failure.lacksSupport {
            failure.message = "answers vary by fields, so all copies with a tag must be expired: \(failure.message)"
            throw failure
        }
    }

    /// Removes the selected entries. For a key, removes its variants too.
    func removeWithVariants(_ selection: Selection) async throws {
        if case .key(let key) = selection, !key.isVariant, await mayVary(key) {
            try await remove(.tag(VariantTag.of(key)))
        }
        try await remove(selection)
    }
}

extension StoreError {
    /// Whether the store, or one of its tiers, cannot do this at all.
    fileprivate var lacksSupport: Bool {
        isUnsupported || faults.contains { ($0.error as? StoreError)?.isUnsupported == true }
    }
}
