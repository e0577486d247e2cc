import Larder
import LarderSystem
import LarderSimulation
import Testing

@Suite struct NetworkStateTests {
    @Test func realWorldTellsStateOfSystem() async {
        let world = SystemWorld()
        var states = world.networkChanges.makeAsyncIterator()
        var told = await states.next()
        // The network may change between two reads. The stream then tells the new state.
        while told != world.network { told = await states.next() }
        #expect(told == SystemNetwork().state)
    }

    @Test func listenersGetPresentStateAndEachNewOneInSimulatedTime() throws {
        try SimulatedWorld().run { world in
            let seen = Locked<[String]>([])
            let listeners = ["a", "b"].map { name in
                world.spawn {
                    for await state in world.networkChanges {
                        seen.withLock { $0.append("\(name) \(state.reach.rawValue) \(world.uptime.brief)") }
                    }
                }
            }
            try await world.sleep(for: .seconds(5))
            world.network = .offline
            #expect(world.network == .offline)
            try await world.sleep(for: .seconds(5))
            world.network = NetworkState(.online, kind: .cellular, isExpensive: true)
            world.network = NetworkState(.online, kind: .cellular, isExpensive: true)
            try await world.settle()
            for listener in listeners { listener.cancel() }
            for listener in listeners { await listener.value }
            #expect(
                seen.withLock { $0 } == [
                    "a unknown 0 s", "b unknown 0 s", "a offline 5 s", "b offline 5 s", "a online 10 s",
                    "b online 10 s",
                ])
        }
    }

    @Test func slowListenerGetsLatestState() throws {
        try SimulatedWorld().run { world in
            var states = world.networkChanges.makeAsyncIterator()
            for state in [NetworkState.online, .offline, NetworkState(.online, kind: .wifi)] { world.network = state }
            #expect(await states.next() == NetworkState(.online, kind: .wifi))
        }
    }
}
