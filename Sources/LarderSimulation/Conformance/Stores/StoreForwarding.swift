import LarderFoundation
import LarderSystem
package import Larder

/// Checks that a store around another one forwards every call.
extension StoreConformance {
    func checkForwarding(_ findings: inout BrokenPromises) {
        for setting in tested.plugin.settings {
            let isList = setting.type == "list of store"
            guard isList || setting.type == "store" else { continue }
            let recorder: JSON = ["use": .string(RecordingStore.name)]
            findings.check("the store of '\(setting.name)' records its calls") {
                try SimulatedWorld().run { world in
                    let inner = RecordingStore()
                    var suite = self
                    suite.tested = try tested.setting(setting.name, to: isList ? [recorder] : recorder, inner.plugin)
                    let trial = try await StoreTrial(suite, in: world, situation: "")
                    return try await inner.callsForgotten(by: trial.store, isOneOfSeveral: isList)
                }
            } check: { forgotten, findings in
                let names = forgotten.map { "'\($0)'" }.joined(separator: ", ")
                findings.expect(
                    forgotten.isEmpty, promise: .forwards, expected: "every call",
                    got: "a store that forgets to forward \(names)")
            }
        }
    }
}

extension TestedPlugin {
    /// Returns the plugin with another value of a setting.
    fileprivate func setting(_ name: String, to value: JSON, _ plugin: Plugin) throws -> TestedPlugin {
        let others = (settings.members ?? []).filter { $0.name != name }
        return TestedPlugin(
            plugin: self.plugin, settings: .object(others + [.init(name, value)]),
            registry: try registry.replacing(plugin), files: files)
    }
}

/// A store in memory that records which of its methods are called.
package final class RecordingStore: Store, EntryJudge {
    static let name = "conformance-recorder"

    private struct State {
        var entries: [Key: Entry] = [:]
        var calls: Set<String> = []
    }

    private let state = Locked(State())

    package init() {}

    var plugin: Plugin { .store(Self.name, "Records its calls.") { [self] _ in self } }

    /// Makes every call of a store around this one.
    ///
    /// - Parameter isOneOfSeveral: whether the store consists of several stores. Then it may ask the judge itself.
    /// - Returns: the names of the methods that were not forwarded.
    package func callsForgotten(by outer: any Store, isOneOfSeveral: Bool = false) async throws -> [String] {
        let key = TestedPlugin.key(["id": "1"])
        let entry = StoreConformance.entry("value", Metadata(spread: 0.5))
        var forgotten: [String] = []
        func expect(_ name: String, _ call: () async throws -> Void) async {
            state.withLock { $0.calls = [] }
            // A call that is not forwarded may throw that it is not supported.
            try? await call()
            if state.withLock({ !$0.calls.contains(name) }) { forgotten.append(name) }
        }
        await expect("write") { _ = try await outer.write(entry, for: key) }
        await expect("use") { _ = outer.use(key) { _ in true } }
        await expect("read") { _ = try await outer.read(key) }
        if !isOneOfSeveral {
            await expect("read's judge") { _ = try await outer.read(Reading(key, judge: self)) }
            await expect("read's needsPayload") { _ = try await outer.contains(key) }
        }
        await expect("renew") { _ = try await outer.renew(entry, for: key) }
        await expect("expire") { try await outer.expire(.all) }
        await expect("list") { _ = try await outer.list(after: nil, most: 10) }
        await expect("setPinned") { _ = try await outer.setPinned(true, for: key) }
        await expect("relieve") { outer.relieve() }
        await expect("statistics") { _ = await outer.statistics() }
        await expect("changes") { _ = outer.changes }
        await expect("remove") { try await outer.remove(.all) }
        await expect("close") { await outer.close() }
        return forgotten
    }

    private func note(_ call: String) { state.withLock { _ = $0.calls.insert(call) } }

    // MARK: Store

    package func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool {
        note("use")
        return state.withLock { $0.entries[key] }.map(accept) ?? false
    }

    package func read(_ reading: Reading) async throws -> Found? {
        note("read")
        if !reading.needsPayload { note("read's needsPayload") }
        guard let entry = state.withLock({ $0.entries[reading.key] }) else { return nil }
        var found = Found(entry, tier: Self.name, isForeign: false)
        _ = try await reading.judge(&found, beside: nil)
        return found
    }

    /// Records that the judge of a search was asked.
    package func judge(_ found: inout Found, beside best: Found?) async throws -> Reading.Verdict {
        note("read's judge")
        return .best
    }

    package func write(_ entry: Entry, for key: Key) async throws -> Bool {
        note("write")
        state.withLock { $0.entries[key] = entry }
        return true
    }

    package func renew(_ entry: Entry, for key: Key) async throws -> Bool {
        note("renew")
        return state.withLock { state in
            guard state.entries[key]?.metadata.isOfSamePayload(as: entry.metadata) == true else { return false }
            state.entries[key]?.metadata = entry.metadata
            return true
        }
    }

    package func expire(_ selection: Selection) async throws { note("expire") }

    package func remove(_ selection: Selection) async throws {
        note("remove")
        state.withLock { state in
            state.entries = state.entries.filter { !selection.contains($0.key, $0.value) }
        }
    }

    package func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        note("list")
        return StorePage([])
    }

    package func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool {
        note("setPinned")
        return isPinned
    }

    package func relieve() { note("relieve") }

    package func statistics() async -> StoreStatistics {
        note("statistics")
        return StoreStatistics()
    }

    package var changes: AsyncStream<StoreChange>? {
        note("changes")
        return AsyncStream { $0.finish() }
    }

    package func close() async { note("close") }
}
