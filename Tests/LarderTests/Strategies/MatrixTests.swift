import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Checks every strategy in every situation.
@Suite struct MatrixTests {
    @Test(arguments: Row.networkFirst) func networkFirst(_ row: Row) throws { try check(row) }
    @Test(arguments: Row.cacheFirst) func cacheFirst(_ row: Row) throws { try check(row) }
    @Test(arguments: Row.staleWhileRevalidate) func staleWhileRevalidate(_ row: Row) throws { try check(row) }
    @Test(arguments: Row.cacheOnly) func cacheOnly(_ row: Row) throws { try check(row) }
    @Test(arguments: Row.networkOnly) func networkOnly(_ row: Row) throws { try check(row) }

    private func check(_ row: Row) throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(row, world)
            let load = simulated.start()
            try await world.sleep(for: .milliseconds(10))
            if row.event == .cancelled { load.cancel() }
            if row.event == .cleared { try await simulated.pantry.clear() }
            let outcome = Self.outcome(of: await load.result())
            #expect(outcome == row.outcome)
            #expect(load.endedAt == .milliseconds(row.after))
            try await world.sleep(for: .seconds(10))
            #expect(simulated.origin.calls.count == row.calls)
            #expect(simulated.origin.calls.count { $0.known?.metadata.etag == "e1" } == row.conditional)
            #expect(simulated.store.bodyWrites == row.writes)
            #expect(simulated.held() == row.holds)
            #expect(world.unfinished == 1, "only this test goes on")
        }
    }

    private static func simulated(_ row: Row, _ world: SimulatedWorld) async throws -> SimulatedPantry {
        let patience = ![.cacheOnly, .networkOnly].contains(row.strategy)
        let simulated = try await SimulatedPantry(
            world, strategy: #"{ "use": "\#(row.strategy.rawValue)"\#(patience ? #", "patience": "800ms""# : "") }"#,
            validators: #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#)
        if let age = row.copy.age { simulated.stock("old", age: age, etag: "e1") }
        simulated.origin.play(then: act(row.event))
        switch row.event {
        case .unreadable, .unreadableAndFails: simulated.store.set(.fails, for: .read)
        case .unwritable: simulated.store.set(.fails, for: .write)
        default: break
        }
        return simulated
    }

    private static func act(_ event: Row.Event) -> ScriptedOrigin.Act {
        switch event {
        case .works, .cancelled, .cleared, .unreadable, .unwritable: .value("new", after: .milliseconds(20))
        case .unchanged: .unchanged(after: .milliseconds(20))
        case .fails, .unreadableAndFails: .failure(.status(503), after: .milliseconds(20))
        case .gone: .failure(.status(404), after: .milliseconds(20))
        case .forbidden: .failure(.status(403), after: .milliseconds(20))
        case .slow: .value("new", after: .seconds(2))
        }
    }

    private static func outcome(of result: Result<Loaded<Data>, any Error>) -> Row.Outcome? {
        switch result {
        case .success(let loaded):
            .value(
                loaded.text, loaded.freshness, loaded.source, isStored: loaded.isStored, fellBack: loaded.fellBack)
        case .failure(let error as LoadError):
            .error(error.code, status: error.status, storeToo: error.store != nil)
        case .failure(is CancellationError): .cancelled
        case .failure: nil
        }
    }
}
