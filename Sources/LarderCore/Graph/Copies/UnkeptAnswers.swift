/// Removes or expires copies when an answer may be used but not kept.
extension StoreAccess {
    /// Saves nothing of an answer, unless the answer of a later call was saved first.
    ///
    /// A copy with another payload is older than the answer. It is expired, so that it is shown only when the origin
    /// fails. If the answer is that the copy is unchanged, the copy itself may not be kept any more, and is removed.
    ///
    /// - Parameter matchesNoOther: whether the reason is that the answer matches no other request. Streams of other
    ///   requests do not get it then.
    func leaveUnsaved(
        _ entry: Entry, for request: Request, ticket: Ticket, isUnchanged: Bool = false,
        matchesNoOther: Bool = false, trail: Trail.Recorder
    ) async {
        if !matchesNoOther { trail.note("store", .notKept) }
        var place = EntryLocation(key: request.key)
        do {
            let outcome = try await keys.perform(ticket, tags: entry.metadata.tags) {
                place = await self.place(of: entry, for: request, isKept: false)
                return place.key
            } _: {
                try await expireOlder(than: entry, at: place, of: ticket.key, isUnchanged: isUnchanged)
            }
            if outcome == .heldUp {
                await leaveUnsavedLater(
                    entry, for: request, ticket: ticket, isUnchanged: isUnchanged,
                    matchesNoOther: matchesNoOther, trail: trail)
            } else if outcome == .done, !place.matchesNoOther {
                news.send(entry, for: request, varyingBy: ["*"], isKept: false, since: ticket)
            }
        } catch {
            _ = meter.report(error, effect: .notRemoved, trail: trail)
        }
    }

    /// Removes or expires the copy at the place of an answer that is not kept.
    func expireOlder(than entry: Entry, at place: EntryLocation, of key: Key, isUnchanged: Bool) async throws {
        if isUnchanged { return try await remove(place.key, because: .unkeepable) }
        await outdate(place.key, by: entry)
        // The first answer that varies is newer than a copy that did not.
        if place.key != key, !place.isMarked { await outdate(key, by: entry) }
    }

    private func outdate(_ key: Key, by entry: Entry) async {
        let newest = await NewestAnswer(entry, in: world)
        if await store.outdate(key, by: newest, in: world) {
            keys.unhide(key)
        } else {
            keys.hide(key, because: .outdated(by: newest))
        }
    }

    /// Removes a copy that may not be kept, unless the key was written since the ticket was taken.
    func removeCopy(of ticket: Ticket, _ trail: Trail.Recorder) async {
        do {
            _ = try await keys.perform(ticket, if: .untouched) {
                try await remove(ticket.entryKey, because: .unkeepable)
            }
        } catch {
            _ = meter.report(error, effect: .notRemoved, trail: trail)
        }
    }
}
