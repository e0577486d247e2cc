import LarderFoundation
import Larder

/// Checks of a store's statistics, limits and restarts, and of concurrent use.
extension StoreConformance {
    func checkPeek(_ findings: inout BrokenPromises) {
        check("the store is peeked", findings: &findings) { trial in
            let (key, other) = (TestedPlugin.key(["id": "1"]), TestedPlugin.key(["id": "2"]))
            for text in ["first", "second"] {
                try await trial.write(Self.entry(text, Metadata(fetchedAt: trial.world.now, etag: text)), for: key)
                let before = await trial.store.statistics()
                let unwanted = trial.store.peek(key) { _ in false }
                let absent = trial.store.peek(other) { _ in true }
                let after = await trial.store.statistics()
                trial.expect(
                    unwanted == nil, promise: .peek, expected: "nothing for a refused entry",
                    got: unwanted?.inWords ?? "")
                trial.expect(
                    absent == nil, promise: .peek, expected: "nothing for a missing entry", got: absent?.inWords ?? "")
                trial.expect(
                    before == after, promise: .peek, expected: "unchanged statistics: \(before)", got: "\(after)")
                var shown: Entry?
                let found = trial.store.peek(key) { entry in
                    shown = entry
                    return true
                }
                let hits = await trial.store.statistics().hits - after.hits
                guard let found else {
                    trial.expect(shown == nil, promise: .peek, expected: "the entry that is wanted", got: "nothing")
                    trial.expect(hits == 0, promise: .peek, expected: "no hit if nothing is returned", got: "\(hits)")
                    continue
                }
                trial.check(Found(found, tier: trial.store.peekedTier, isForeign: false), for: key, .peek)
                trial.expect(
                    shown?.payload === found.payload, promise: .peek, expected: "the entry that was asked about",
                    got: "another")
                trial.expect(hits == 1, promise: .statistics, expected: "one more hit", got: "\(hits)")
            }
        }
    }

    func checkStatistics(_ findings: inout BrokenPromises) {
        check("six entries are written and read, and six others are read", findings: &findings) { trial in
            let keys = (1...12).map { TestedPlugin.key(["id": "\($0)"]) }
            for _ in 1...2 {
                for key in keys.prefix(6) {
                    try await trial.write(Self.entry("value", Metadata(fetchedAt: trial.world.now)), for: key)
                }
            }
            let before = await trial.store.statistics()
            var found = 0
            for key in keys where try await trial.store.read(key) != nil { found += 1 }
            let after = await trial.store.statistics()
            trial.expect(
                after.hits - before.hits == found, promise: .statistics, expected: "\(found) hits",
                got: "\(after.hits - before.hits)")
            if !trial.traits.keepsNothing {
                let (expected, misses) = (keys.count - found, after.misses - before.misses)
                trial.expect(misses == expected, promise: .statistics, expected: "\(expected) misses", got: "\(misses)")
            }
            trial.expect(
                after.entries == found, promise: .statistics, expected: "\(found) entries", got: "\(after.entries)")
            trial.expect(
                (after.bytes > 0) == (found > 0), promise: .statistics,
                expected: "bytes if and only if there are entries",
                got: "\(after.bytes)")
            try await trial.remove(.all)
            let last = await trial.store.statistics()
            trial.expect(
                last.entries == 0 && last.bytes == 0, promise: .statistics,
                expected: "no entries and no bytes once all are removed",
                got: "\(last.entries) entries, \(last.bytes) bytes")
        }
    }

    /// Checks twenty concurrent users, each with a key of its own.
    func checkConcurrentLoads(_ findings: inout BrokenPromises) {
        for seed in UInt64(1)...3 {
            let world = SimulatedWorld(seed: seed, interleaving: .shuffled)
            check("twenty users at a time, seed \(seed)", findings: &findings, in: world) { trial in
                let (store, world) = (trial.store, trial.world)
                let users = (1...20).map { number in
                    ObservedTask(in: world) { try await Self.use(store, number, in: world) }
                }
                try await world.sleep(for: .seconds(600))
                for user in users {
                    trial.expect(
                        user.ending?.result.isSuccess == true, promise: .readsWrites,
                        expected: "a user whose calls all work",
                        got: user.inWords)
                    for wrong in user.value ?? [] {
                        trial.expect(
                            false, promise: .readsWrites, expected: "the value that the same user wrote", got: wrong)
                    }
                }
            }
        }
    }

    /// Writes and reads one key. Returns what was read if it differs from what was written.
    private static func use(_ store: any Store, _ number: Int, in world: SimulatedWorld) async throws -> [String] {
        var wrong: [String] = []
        let key = TestedPlugin.key(["id": "\(number % 10)"], scope: number > 10 ? "a" : nil)
        for round in 1...5 {
            let text = "\(number)-\(round)"
            let isKept = try await store.write(entry(text, Metadata(fetchedAt: world.now)), for: key)
            try await world.runPendingTasks()
            if let found = try await store.read(key)?.entry, !isKept || found.payload.bytes != Data(text.utf8) {
                wrong.append(found.inWords)
            }
            try await world.runPendingTasks()
        }
        return wrong
    }

    // MARK: Limits

    func checkLimits(_ findings: inout BrokenPromises) {
        check("thirty entries of an eighth of its capacity, and one too large", findings: &findings) { trial in
            guard let capacity = trial.traits.capacity, capacity <= 4_000_000 else { return }
            func check(_ trial: inout StoreTrial) async {
                let bytes = await trial.store.statistics().bytes
                trial.expect(
                    bytes <= capacity, promise: .capacity, expected: "\(capacity) bytes at most", got: "\(bytes)")
            }
            let large = Data(repeating: 7, count: capacity / 8)
            for number in 1...30 {
                let entry = Entry(large, Metadata(fetchedAt: trial.world.now))
                try await trial.write(entry, for: TestedPlugin.key(["id": "\(number)"]))
                await check(&trial)
            }
            for isAfterRestart in [false, true] {
                if isAfterRestart, !trial.traits.isForeign { break }
                if isAfterRestart { try await trial.restart() }
                let found = try await trial.compare(.readsWrites)
                let bytes = found.values.reduce(0) { $0 + $1.entry.payload.bytes.count }
                trial.expect(
                    bytes <= capacity, promise: .capacity, expected: "payloads of \(capacity) bytes at most",
                    got: "\(bytes)")
                await check(&trial)
            }
            let tooLarge = Entry(Data(repeating: 8, count: capacity + 1), Metadata(fetchedAt: trial.world.now))
            let key = TestedPlugin.key(["id": "30"])
            try await trial.write(tooLarge, for: key, .replaces)
            trial.expect(
                trial.model[key] == nil, promise: .capacity, expected: "no entry for what is too large", got: "one")
            await check(&trial)
        }
        check("entries as old as the declared age", findings: &findings) { trial in
            guard let age = trial.traits.keepsFor, age < .forever else { return }
            try await trial.fill()
            try await trial.world.sleep(for: age)
            for (key, entry) in trial.model {
                guard let found = try await trial.store.read(key) else { continue }
                // A memory tier above a foreign one may keep entries until the process ends.
                let isExcused = trial.traits.isForeign && !found.isForeign
                trial.expect(isExcused, promise: .capacity, expected: "nothing", got: entry.inWords)
            }
            if !trial.traits.isForeign { return }
            try await trial.restart()
            for (key, entry) in trial.model {
                let found = try await trial.store.read(key)
                trial.expect(found == nil, promise: .capacity, expected: "nothing after a restart", got: entry.inWords)
            }
        }
    }

    // MARK: Restarts

    func checkRestart(_ findings: inout BrokenPromises) {
        check("the store is closed and opened again", findings: &findings) { trial in
            guard trial.traits.isForeign else { return }
            try await trial.fill()
            let key = TestedPlugin.key(["id": "1"])
            try await trial.write(
                Self.entry(
                    "new", Metadata(fetchedAt: trial.world.now, etag: "e", notes: ["a": .number(3)], spread: 0.5)),
                for: key)
            try await trial.remove(.scope("a"))
            try await trial.remove(.key(TestedPlugin.key(["id": "2"])))
            for _ in 1...2 {
                try await trial.restart()
                for key in trial.model.keys {
                    guard let found = try await trial.store.read(key) else { continue }
                    trial.expect(
                        found.isForeign, promise: .reopens, expected: "foreign entries",
                        got: "one not marked as foreign")
                }
                try await trial.compare(.reopens)
            }
            try await trial.remove(.all)
            try await trial.restart()
            try await trial.compare(.removes)
        }
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
