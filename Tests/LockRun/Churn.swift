import Foundation
import Larder
import Synchronization

/// Loads from full memory stores while listeners and streams come and go, and policies and capacities change.
final class Churn: Sendable {
    private let end: ContinuousClock.Instant
    private let loads = Atomic(0)
    private let streams = Atomic(0)
    private let reloads = Atomic(0)

    init(seconds: Int) { end = .now + .seconds(seconds) }

    private var isOver: Bool { ContinuousClock.now >= end }

    func run() async throws {
        var registry = Registry.standard
        try registry.register(
            .origin("numbers", "Makes payloads.") { call in
                Self.payload(of: Int(call.request.parameters["id"] ?? "") ?? 0)
            })
        let folder = FileManager.default.temporaryDirectory.appending(path: "larder-churn-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let pantry = try await Pantry(policies: Self.policies(round: 0), registry: registry, cache: folder)
        await withTaskGroup { followers in
            for _ in 0..<4 { followers.addTask { await self.follow(pantry) } }
            followers.addTask { await self.followUpdates(of: pantry) }
            followers.addTask { await self.change(pantry) }
            await withTaskGroup { loaders in
                for seed in 0..<3 { loaders.addTask { await self.load(from: pantry, seed: seed) } }
            }
            // Ends streams that wait for one more event.
            followers.cancelAll()
        }
        await pantry.close()
        let (loads, streams, reloads) = (
            loads.load(ordering: .relaxed), streams.load(ordering: .relaxed), reloads.load(ordering: .relaxed)
        )
        if loads == 0 || streams == 0 || reloads == 0 { LockRun.fail("nothing happened") }
        print("churn: \(loads) loads, \(streams) streams, \(reloads) reloads")
    }

    /// The payload of a number. All its bytes are equal and tell the number.
    private static func payload(of id: Int) -> Data { Data(repeating: UInt8(id % 251), count: 500 + id % 1000) }

    private static func policies(round: Int) -> [String: String] {
        let strategy = round % 2 == 0 ? "cache-first" : "stale-while-revalidate"
        func policy(_ name: String, capacity: Int) -> String {
            """
            { "resource": "\(name)", "origin": "numbers", "strategy": "\(strategy)",
              "validators": ["checksum", { "use": "age", "fresh": "1h" }],
              "store": { "use": "memory", "capacity": "\(capacity)KB" } }
            """
        }
        return ["one": policy("one", capacity: 200 + round % 5 * 20), "two": policy("two", capacity: 100)]
    }

    private static func check(_ data: Data, of id: Int) {
        if data != payload(of: id) { LockRun.fail("a payload of \(data.count) bytes that no origin sent") }
    }

    private func load(from pantry: Pantry, seed: Int) async {
        var random = UInt64(seed + 1)
        let resources = [pantry.resource("one"), pantry.resource("two")]
        while !isOver {
            for _ in 0..<200 {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let id = Int(random >> 33) % 1_500
                do {
                    let loaded = try await resources[id % 2].load(["id": "\(id)"])
                    Self.check(loaded.value, of: id)
                } catch {
                    LockRun.fail("a load failed: \(error)")
                }
                loads.add(1, ordering: .relaxed)
            }
            await Task.yield()
        }
    }

    /// Begins streams of all kinds, reads some elements, and ends them.
    private func follow(_ pantry: Pantry) async {
        while !isOver {
            for await entry in pantry.forgotten {
                if entry.tier.isEmpty { LockRun.fail("a tier without a name") }
                break
            }
            for await decision in pantry.decisions {
                if decision.resource?.isEmpty == true { LockRun.fail("a decision without a resource") }
                break
            }
            // Streams that nobody reads.
            withExtendedLifetime([pantry.forgotten, pantry.forgotten]) {}
            withExtendedLifetime(pantry.events) {}
            withExtendedLifetime(pantry.decisions) {}
            streams.add(6, ordering: .relaxed)
            _ = pantry.metrics["one"]
        }
    }

    private func followUpdates(of pantry: Pantry) async {
        let resource = pantry.resource("two")
        var id = 0
        while !isOver {
            id = (id + 2) % 1_500
            do {
                for try await update in resource.updates(["id": "\(id + 1)"]) {
                    guard case .value(let loaded) = update else { continue }
                    Self.check(loaded.value, of: id + 1)
                    break
                }
            } catch is CancellationError {
                return
            } catch {
                LockRun.fail("a stream failed: \(error)")
            }
            streams.add(1, ordering: .relaxed)
        }
    }

    private func change(_ pantry: Pantry) async {
        var round = 0
        while !isOver {
            round += 1
            do {
                _ = try await pantry.replace(policies: Self.policies(round: round))
                if round % 7 == 0 { pantry.relieve() }
                if round % 11 == 0 { try await pantry.clear(.scope(nil)) }
            } catch is CancellationError {
                return
            } catch {
                LockRun.fail("a reload failed: \(error)")
            }
            reloads.add(1, ordering: .relaxed)
        }
    }
}
