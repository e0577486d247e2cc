import Foundation
import Larder

/// The steps that `Tests/full-disk-processes` runs on a small disk, each in a process of its own. Each prints one line.
struct SmallDisk {
    /// The accounts that have copies.
    private static let accounts: [String?] = ["al", "bo", nil]
    /// The account that is cleared.
    private static let cleared = "al"

    let run: StoreRun
    let pantry: Pantry
    let store: any Store

    init(_ run: StoreRun) async throws {
        self.run = run
        (pantry, store) = try await run.open(Self.entry)
    }

    /// Returns the entry under a key. The parameters say how large its payload is.
    static func entry(of key: Key) -> Entry {
        let size = Int(key.parameters["size"] ?? "") ?? 0
        let text = String(repeating: key.text + " ", count: size / (key.text.utf8.count + 1) + 1)
        return Entry(Data(text.utf8), Metadata(fetchedAt: Timestamp(seconds: 1_700_000_000), tags: ["all"]))
    }

    /// Makes the step with a name.
    func make(step: String, count: Int, size: Int) async throws {
        switch step {
        case "fill": try await fill(count: count, size: size, isClosed: true)
        case "fill-and-wait": try await fill(count: count, size: size, isClosed: false)
        case "show": try await show(count: count, size: size)
        case "load-all": try await loadAll(count: count, size: size)
        case "clear": try await clear()
        default: try await verify()
        }
    }

    /// Writes `count` entries for each account, and closes the store or waits to be killed.
    private func fill(count: Int, size: Int, isClosed: Bool) async throws {
        for number in 0..<count {
            for account in Self.accounts {
                let key = Self.key(number, size, account)
                guard try await store.write(Self.entry(of: key), for: key) else { return StoreRun.say("not kept") }
            }
        }
        if isClosed { await pantry.close() }
        StoreRun.say("filled")
        while !isClosed { try await Task.sleep(for: .seconds(60)) }
    }

    /// Counts the right copies that are shown without asking the origin, and the wrong ones.
    private func show(count: Int, size: Int) async throws {
        var (texts, wrong): ([String], Int) = ([], 0)
        for account in Self.accounts {
            var right = 0
            for number in 0..<count {
                let key = Self.key(number, size, account)
                let copy = try? await pantry.resource("feed").load(
                    key.parameters, scope: account, mode: .cachedOnly)
                guard let copy else { continue }
                if copy.value == Self.entry(of: key).payload.bytes { right += 1 } else { wrong += 1 }
            }
            texts.append("\(account ?? "nobody") \(right)")
        }
        StoreRun.say(texts.joined(separator: ", ") + ", wrong \(wrong)")
        await pantry.close()
    }

    /// Loads every instance from the origin, and counts the right answers.
    private func loadAll(count: Int, size: Int) async throws {
        var right = 0
        for number in 0..<count {
            for account in Self.accounts {
                let key = Self.key(number, size, account)
                let loaded = try await pantry.resource("feed").load(key.parameters, scope: account)
                if loaded.value == Self.entry(of: key).payload.bytes { right += 1 }
            }
        }
        StoreRun.say("right \(right)")
        await pantry.close()
    }

    /// Clears one account.
    private func clear() async throws {
        do {
            try await pantry.clear(.scope(Self.cleared))
            StoreRun.say("cleared")
        } catch {
            StoreRun.say("not cleared: \(error)")
        }
        await pantry.close()
    }

    /// Checks the store.
    private func verify() async throws {
        do {
            let result = try await store.verify()
            StoreRun.say("checked \(result.checked), damaged \(result.damaged)")
        } catch {
            StoreRun.say("not checked: \(error)")
        }
        await pantry.close()
    }

    private static func key(_ number: Int, _ size: Int, _ account: String?) -> Key {
        // Every seventh entry is large.
        let size = number % 7 == 6 ? size * 8 : size
        return Key(resource: "feed", scope: account, parameters: ["id": "\(number)", "size": "\(size)"])
    }
}
