import Foundation
import Larder
import Synchronization

/// A program that uses the store `sqlite`. `Tests/store-crashes` kills it, cuts the power under it and makes its disk fail,
/// and checks what the next start finds.
///
/// - `StoreRun FOLDER write NAME SEED SETTINGS` writes, expires, removes and reopens until it is killed, and prints what it
///   begins and what is acknowledged.
/// - `StoreRun FOLDER dump SETTINGS` prints `started` after its first change, and then all entries.
/// - `StoreRun FOLDER load SETTINGS` loads through a whole policy and prints whether all loads were answered.
/// - `StoreRun FOLDER STEP COUNT SIZE SETTINGS` runs a step of ``SmallDisk``.
///
/// SETTINGS are those of the store as JSON.
@main struct StoreRun {
    let folder: URL
    let settings: String

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4, let settings = arguments.last else {
            say("usage: StoreRun FOLDER write NAME SEED | dump | load | STEP COUNT SIZE, each followed by SETTINGS")
            return
        }
        let run = StoreRun(folder: URL(filePath: arguments[1], directoryHint: .isDirectory), settings: settings)
        switch arguments[2] {
        case "write":
            guard arguments.count == 6, let seed = UInt64(arguments[4]) else { return }
            try await Writer(run: run, name: arguments[3], seed: seed).write()
        case "dump": try await run.dump()
        case "load": try await run.load()
        default:
            guard arguments.count == 6, let count = Int(arguments[3]), let size = Int(arguments[4]) else { return }
            try await SmallDisk(run).make(step: arguments[2], count: count, size: size)
        }
    }

    /// Writes a line without a buffer, so that it is not lost if the process is killed next.
    static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Composes the policy, and returns its store beside the pantry.
    ///
    /// - Parameter answer: the origin's answer to a request for a key.
    func open(
        _ answer: @escaping @Sendable (Key) throws -> Entry = { try StoreRun.entry(of: $0, 1) }
    ) async throws -> (pantry: Pantry, store: any Store) {
        let made = Mutex<(any Store)?>(nil)
        var registry = Registry.standard
        try registry.register(
            .store("shown", "Shows the store that it is made of.", Setting("of", .part(.store), help: "The store")) {
                context, part in
                let store = try part.store(in: context)
                made.withLock { $0 = store }
                return store
            })
        try registry.register(.origin("numbers") { call in Loaded(try answer(call.request.key)) })
        let policy = """
            {
              "resource": "feed", "origin": "numbers", "strategy": "network-first",
              "store": { "use": "shown", "of": \(settings) }
            }
            """
        let pantry = try await Pantry(
            policies: ["feed": policy], registry: registry, cache: folder, ifCacheUnusable: .fail, environment: [:])
        guard let store = made.withLock({ $0 }) else { throw StoreError("there is no store") }
        return (pantry, store)
    }

    /// Returns the entry under a key that has a number. The number decides its size, which is that of a file now and then.
    static func entry(of key: Key, _ number: Int) throws -> Entry {
        let size = number % 13 == 0 ? 150_000 + number % 1_000 : number * 7 % 3_000
        var text = "\(key.text) \(number) \(size)\n"
        text += String(repeating: "\(number) ", count: size / "\(number) ".utf8.count)
        return Entry(
            Data(text.utf8), Metadata(fetchedAt: Timestamp(seconds: 1_700_000_000), tags: ["tag \(number % 5)"]))
    }

    /// Prints `started` after a change, `KEY NUMBER` for each entry, and `KEY bad` for one with wrong bytes.
    private func dump() async throws {
        let (pantry, store) = try await open()
        // The first change removes the files that a killed process has left.
        _ = try await store.write(Entry(Data("probe".utf8)), for: Key(resource: "probe"))
        try await store.remove(.key(Key(resource: "probe")))
        Self.say("started")
        var cursor: StoreCursor?
        repeat {
            let page = try await store.list(after: cursor, most: 500)
            for listed in page.entries {
                guard let key = listed.key else { Self.say("? bad"); continue }
                do {
                    guard let entry = try await store.read(key)?.entry else { continue }
                    let number = Int(
                        String(decoding: entry.payload.bytes.prefix(300), as: UTF8.self).split(separator: " ")
                            .dropFirst()
                            .first ?? "")
                    let isRight = try number.map { try Self.entry(of: key, $0).payload.bytes == entry.payload.bytes }
                    let mark = entry.metadata.isExpired ? " expired" : ""
                    Self.say("\(key.text) \(isRight == true ? "\(number ?? 0)" : "bad")\(mark)")
                } catch {
                    Self.say("\(key.text) damaged")
                }
            }
            cursor = page.next
        } while cursor != nil
        let statistics = await store.statistics()
        Self.say("= \(statistics.entries) \(statistics.bytes)")
        await pantry.close()
    }

    /// Loads, and prints how many loads were answered, how many were saved, and how many faults were counted.
    private func load() async throws {
        let (pantry, _) = try await open()
        let feed = pantry.resource("feed")
        var (right, unsaved) = (0, 0)
        for number in 0..<40 {
            let parameters: Parameters = ["id": "\(number % 15)"]
            let loaded = try await feed.load(parameters, scope: number % 2 == 0 ? "alice" : "bob")
            let key = Key(resource: "feed", scope: number % 2 == 0 ? "alice" : "bob", parameters: parameters)
            if loaded.value == (try Self.entry(of: key, 1)).payload.bytes { right += 1 }
            if !loaded.isStored { unsaved += 1 }
            if number == 20 { try? await pantry.clear(.scope("alice")) }
        }
        let faults = feed.metrics.faults.values.reduce(0, +)
        // The disk works again.
        let last = try await feed.load(["id": "last"])
        let copy = try? await feed.load(["id": "last"], mode: .cachedOnly)
        Self.say(
            "\(right) right, \(unsaved) unsaved, \(faults) faults, last \(last.isStored && copy?.value == last.value)")
        await pantry.close()
    }
}

/// Changes entries without end.
private final class Writer: Sendable {
    let run: StoreRun
    let name: String
    let seed: UInt64
    private let number = Atomic(0)

    init(run: StoreRun, name: String, seed: UInt64) {
        (self.run, self.name, self.seed) = (run, name, seed)
    }

    func write() async throws {
        var dice = Dice(state: seed)
        while true {
            let (pantry, store) = try await run.open()
            StoreRun.say("open")
            for _ in 0..<(2 + dice.roll(6)) { try await round(store, &dice) }
            StoreRun.say("close")
            await pantry.close()
        }
    }

    /// Eight tasks write keys of their own. Sometimes an account is removed meanwhile, or a tag expires.
    private func round(_ store: any Store, _ dice: inout Dice) async throws {
        let seeds = (0..<8).map { _ in dice.next() }
        let choice = dice.roll(4)
        let account = "\(name)-\(dice.roll(3))"
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (task, seed) in seeds.enumerated() {
                group.addTask { [self] () async throws -> Void in
                    var dice = Dice(state: seed)
                    for _ in 0..<15 { try await write(store, task, &dice) }
                }
            }
            if choice == 0 {
                group.addTask { [name] () async throws -> Void in
                    StoreRun.say("clear \(account)")
                    try await store.remove(.scope(account))
                    StoreRun.say("cleared \(account)")
                    _ = name
                }
            } else if choice == 1 {
                group.addTask { try await store.expire(.tag("tag 2")) }
            }
            try await group.waitForAll()
        }
    }

    private func write(_ store: any Store, _ task: Int, _ dice: inout Dice) async throws {
        let key = Key(
            resource: "feed", scope: "\(name)-\(dice.roll(3))", parameters: ["id": "\(task)-\(dice.roll(20))"])
        let number = number.add(1, ordering: .relaxed).newValue
        let entry = try StoreRun.entry(of: key, number)
        StoreRun.say("write \(key.text) \(number)")
        let isKept = try await store.write(entry, for: key)
        StoreRun.say("\(isKept ? "kept" : "dropped") \(key.text) \(number)")
    }
}

/// Random numbers that can be repeated.
private struct Dice {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(sides)) }
}
