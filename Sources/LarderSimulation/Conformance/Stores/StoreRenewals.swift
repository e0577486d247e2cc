import LarderFoundation
import Larder

/// Checks of renewals, expired selections and of what a store contains.
extension StoreConformance {
    func checkRenewals(_ findings: inout BrokenPromises) {
        check("metadata are renewed", findings: &findings) { trial in
            let key = TestedPlugin.key(["id": "1"])
            let written = Metadata(
                fetchedAt: trial.world.now, etag: "e1", tags: ["t"], notes: ["a": .number(1)], spread: 0.25)
            try await trial.write(Self.entry("value", written), for: key, .renews)
            try await trial.write(Self.entry("other", written), for: TestedPlugin.key(["id": "2"]), .renews)
            try await trial.world.sleep(for: .microseconds(1))
            for etag in ["e2", "", String(repeating: "e", count: 3_000)] {
                var renewed = written
                renewed.validatedAt = trial.world.now
                renewed.etag = etag
                renewed.notes = ["a": .number(2), "b": .text("new")]
                try await trial.renew(Self.entry("value", renewed), for: key)
                if trial.traits.isForeign { try await trial.restart() }
                try await trial.compare(.renews)
                try await trial.world.sleep(for: .microseconds(1))
            }
        }
        check("the metadata of an expired entry are renewed", findings: &findings) { trial in
            let key = TestedPlugin.key(["id": "1"])
            let entry = Self.entry("value", Metadata(fetchedAt: trial.world.now, spread: 0.5))
            try await trial.write(entry, for: key, .renews)
            for _ in 1...2 {
                try await trial.expire(.key(key))
                try await trial.renew(entry, for: key)
                try await trial.compare(.renews)
                if trial.traits.isForeign { try await trial.restart() }
                try await trial.compare(.renews)
            }
        }
        check("the metadata of another payload are renewed", findings: &findings) { trial in
            let key = TestedPlugin.key(["id": "1"])
            try await trial.write(
                Self.entry("older", Metadata(fetchedAt: trial.world.now, etag: "e1", spread: 0.25)), for: key, .renews)
            try await trial.renew(
                Self.entry("newer", Metadata(fetchedAt: trial.world.now, etag: "e2", spread: 0.5)), for: key)
            try await trial.compare(.renews)
            try await trial.renew(
                Self.entry("value", Metadata(fetchedAt: trial.world.now)), for: TestedPlugin.key(["id": "2"]))
            try await trial.compare(.renews)
        }
    }

    func checkContains(_ findings: inout BrokenPromises) {
        check("the store is asked what it contains", findings: &findings) { trial in
            try await trial.fill()
            try await trial.expire(.key(TestedPlugin.key(["id": "0"])))
            try await trial.remove(.scope("a"))
            for isAfterRestart in [false, true] {
                if isAfterRestart, !trial.traits.isForeign { break }
                if isAfterRestart { try await trial.restart() }
                for number in 0...5 {
                    for scope in [nil, "", "a", "A"] {
                        let key = TestedPlugin.key(["id": "\(number)"], scope: scope)
                        let contains = try await trial.store.contains(key)
                        let isThere = try await trial.store.read(key) != nil
                        trial.expect(
                            contains == isThere, promise: .contains, expected: "\(isThere)", got: "\(contains)")
                    }
                }
            }
        }
    }

    func checkSelectionsExpire(_ findings: inout BrokenPromises) {
        let selections: [(String, Selection)] = [
            ("an account", .scope("a")), ("the entries without an account", .scope(nil)), ("a tag", .tag("t")),
            ("a tag that no entry has", .tag("z")), ("everything", .all),
        ]
        for (what, selection) in selections {
            check("entries of several accounts and tags, of which \(what) is expired", findings: &findings) { trial in
                try await trial.fill()
                do {
                    try await trial.expire(selection)
                } catch let error as StoreError where error.isUnsupported {
                    return
                }
                try await trial.compare(.expires)
                for (key, entry) in trial.model {
                    let isExpired = entry.metadata.isExpired
                    trial.checkUses(trial.store.peek(key) { _ in true }, isExpired: isExpired)
                }
                try await trial.expire(selection)
                if trial.traits.isForeign { try await trial.restart() }
                try await trial.compare(.expires)
            }
        }
    }
}

extension StoreTrial {
    /// Renews an entry, and writes it as the graph does if the store did not.
    mutating func renew(_ entry: Entry, for key: Key) async throws {
        if try await store.renew(entry, for: key) {
            model[key] = entry
            note(key)
            let found = try await store.read(key)
            expect(found != nil, promise: .renews, expected: "the entry that the store said it keeps", got: "nothing")
            if let found { check(found, for: key, .renews) }
        } else {
            // The entry that was there must not have changed.
            if let found = try await store.read(key) { check(found, for: key, .renews) }
            try await write(entry, for: key, .renews)
        }
    }

    mutating func expire(_ selection: Selection) async throws {
        try await store.expire(selection)
        for (key, entry) in model where selection.contains(key, entry) { model[key]?.metadata.isExpired = true }
    }
}
