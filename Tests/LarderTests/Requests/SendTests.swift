import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Requests that change something at the origin.
@Suite struct SendTests {
    private static let age = #"[{ "use": "age", "fresh": "5m", "onError": "7d" }]"#

    private func simulated(
        _ world: SimulatedWorld, around: String = "[]", fallbacks: String = "[]"
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: #""cache-first""#, validators: Self.age, around: around, fallbacks: fallbacks)
        simulated.origin.play(then: .value("done", after: .milliseconds(100)))
        return simulated
    }

    private func send(
        _ simulated: SimulatedPantry, _ request: Request? = nil, invalidating selections: [Selection] = []
    ) -> Started<Loaded<Data>> {
        let feed = simulated.feed
        let request = request ?? feed.request(body: Data("order".utf8))
        return simulated.world.start { try await feed.send(request, invalidating: selections) }
    }

    // MARK: Past the cache

    @Test func sendIsNeitherAnsweredByCopyNorSharedNorKept() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let request = simulated.feed.request(["id": "1"])
            simulated.stock("copy", age: .zero, for: request.key)
            for send in [send(simulated, request), send(simulated, request)] {
                let answer = try await send.value()
                #expect(answer.text == "done" && answer.source == .origin && !answer.isStored)
                #expect(answer.trail.lines == ["origin: answered after 100 ms"])
            }
            #expect(simulated.origin.sends.count == 2 && simulated.held(request.key) == "copy")
            #expect(simulated.feed.metrics.coalesced == 0)
            #expect(try await simulated.feed.load(request).text == "copy", "nothing was invalidated")
        }
    }

    @Test func sendAndLoadOfSameRequestShareNoCall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let request = simulated.feed.request()
            let load = simulated.start(request)
            let send = send(simulated, request)
            _ = try await (load.value(), send.value())
            #expect(simulated.origin.calls.count == 2 && simulated.origin.sends.count == 1)
        }
    }

    @Test func originSeesMethodBodyAndFields() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let request = simulated.feed.request(["id": "1"], fields: ["X-Trace": "t"], body: Data("order".utf8))
            _ = try await simulated.feed.send(request, method: "PUT")
            _ = try await simulated.feed.load()
            let calls = simulated.origin.calls
            #expect(calls.map(\.isSend) == [true, false] && calls.map(\.method) == ["PUT", nil])
            #expect(calls[0].request == request && calls[0].known == nil)
        }
    }

    @Test func failedSendIsThrownWithoutFallback() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, fallbacks: #"[{ "use": "constant", "value": 1 }]"#)
            simulated.stock("copy", age: .zero)
            simulated.origin.play(.failure(.status(503)), .failure(.status(409)))
            let failed = try await send(simulated, invalidating: [.key(simulated.key())]).failure()
            #expect(failed.status == 503 && failed.trail.lines == ["origin: the origin answered 503"])
            #expect(try await send(simulated).failure().isAnswer)
            #expect(try await simulated.feed.load().freshness == .fresh, "a failed change invalidates nothing")
        }
    }

    // MARK: Wrappers

    @Test func retryRepeatsSendOnlyIfPolicySaysSo() throws {
        for (setting, calls) in [("", 1), (#", "sends": false"#, 1), (#", "sends": true"#, 3)] {
            try SimulatedWorld().run { world in
                let simulated = try await simulated(
                    world, around: #"[{ "use": "retry", "retries": 2, "backoff": "1s"\#(setting) }]"#)
                simulated.origin.play(then: .failure(.status(503)))
                _ = try await send(simulated).failure()
                #expect(simulated.origin.sends.count == calls)
            }
        }
    }

    @Test func hedgeNeverRepeatsSend() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, around: #"[{ "use": "hedge", "after": "10ms" }]"#)
            _ = try await send(simulated).value()
            #expect(simulated.origin.sends.count == 1)
        }
    }

    @Test func openBreakerRefusesSend() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, around: #"[{ "use": "breaker", "failures": 1, "rest": "1m" }]"#)
            simulated.origin.play(.failure(.status(503)))
            _ = try await send(simulated).failure()
            #expect(try await send(simulated).failure().code == .unavailable)
            #expect(simulated.origin.sends.count == 1)
        }
    }

    @Test func sendIsCancelledAtItsDeadlineAndByTimeout() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, around: #"[{ "use": "timeout", "after": "2s" }]"#)
            simulated.origin.play(then: .hang)
            let request = simulated.feed.request(deadline: .seconds(1))
            #expect(try await send(simulated, request).failure().code == .deadline)
            #expect(world.uptime == .seconds(1) && simulated.origin.underWay == 0)
            #expect(try await send(simulated).failure().code == .timeout)
        }
    }

    // MARK: Invalidation

    @Test func successExpiresKeyThatIsStillServedOffline() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let (one, two) = (simulated.key(["id": "1"]), simulated.key(["id": "2"]))
            for key in [one, two] { simulated.stock("copy", age: .zero, for: key) }
            _ = try await send(simulated, invalidating: [.key(one)]).value()
            simulated.origin.play(then: .failure(.status(503)))
            let stale = try await simulated.feed.load(["id": "1"])
            #expect(stale.text == "copy" && stale.fellBack && stale.freshness == .stale)
            #expect(try await simulated.feed.load(["id": "2"]).freshness == .fresh)
        }
    }

    @Test func successMakesTaggedCopiesOutOfDate() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(.value("one", tags: ["orders"]), .value("two"))
            for id in ["1", "2"] { _ = try await simulated.feed.load(["id": id]) }
            _ = try await send(simulated, invalidating: [.tag("orders")]).value()
            #expect(try await simulated.feed.load(["id": "1"]).source == .origin)
            #expect(try await simulated.feed.load(["id": "2"]).source == .store("faulty"))
        }
    }

    @Test func loadThatBeganBeforeEndOfSendSavesNothingInvalidated() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(.value("before", after: .milliseconds(150)))
            let load = simulated.start()
            try await world.sleep(for: .milliseconds(10))
            _ = try await send(simulated, invalidating: [.key(simulated.key())]).value()
            let later = simulated.start()
            #expect(try await load.value().isStored == false)
            #expect(try await later.value().text == "done", "a later load does not join the earlier call")
            #expect(simulated.held() == "done")
        }
    }

    @Test func failingStoreDoesNotFailSendAndHidesCopy() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.stock("copy", age: .zero)
            for operation in [FaultyStore.Operation.expire, .write, .remove] {
                simulated.store.set(.fails, for: operation)
            }
            let answer = try await send(simulated, invalidating: [.key(simulated.key())]).value()
            #expect(answer.trail.lines.contains { $0.contains("copies are hidden") })
            #expect(try await simulated.feed.load().source == .origin)
        }
    }

    // MARK: Counting

    @Test func sendsAreCountedApartAndLogged() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            let notes = Locked<[String]>([])
            let decisions = simulated.pantry.decisions
            let listening = world.spawn {
                for await decision in decisions where decision.kind == .send {
                    notes.withLock { $0.append(decision.note) }
                }
            }
            simulated.origin.play(.value("done"), .failure(.status(503)), .hang)
            _ = try await send(simulated).value()
            _ = try await send(simulated).failure()
            let cancelled = send(simulated)
            try await world.settle()
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value() }
            try await world.settle()
            listening.cancel()
            let metrics = simulated.feed.metrics
            #expect(metrics.sends == 3 && metrics.failedSends == 2)
            #expect(metrics.loads == 0 && metrics.failures == 0 && metrics.cancelled == 0 && metrics.originCalls == 0)
            #expect(metrics.originLatency.count == 0)
            #expect(
                notes.withLock { $0 } == [
                    "a change was sent", "a change failed: the origin answered 503", "a change failed: cancelled",
                ])
        }
    }

    // MARK: Refusals

    @Test func originThatCannotChangeAnythingIsNotCalled() throws {
        try SimulatedWorld().run { world in
            let calls = Locked(0)
            let readOnly = Plugin.origin("read-only") { _ in
                calls.withLock { $0 += 1 }
                return Data("value".utf8)
            }
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, plugins: [readOnly], origin: #""read-only""#)
            let refused = try await send(simulated).failure()
            #expect(refused.message == "this origin does not accept changes")
            #expect(calls.withLock { $0 } == 0)
        }
    }

    @Test func appsClosureCanAcceptSends() throws {
        try SimulatedWorld().run { world in
            let api = Plugin.origin("api", acceptsSends: true) { call in Data((call.method ?? "load").utf8) }
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, plugins: [api], origin: #""api""#)
            #expect(try await send(simulated).value().text == "POST")
            #expect(try await simulated.feed.load().text == "load")
        }
    }

    @Test func requestForAnotherResourceIsRefused() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            #expect(try await send(simulated, Request("other")).failure().code == .noSuchResource)
        }
    }
}
