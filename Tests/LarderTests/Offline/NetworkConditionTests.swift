import Larder
import Testing

@Suite("Conditions of background work on the network")
struct NetworkConditionTests {
    @Test(
        "work that wants Wi-Fi waits where the network costs, and nowhere else",
        arguments: [
            (NetworkState(.online, kind: .wifi), true),
            (NetworkState(.online, kind: .wired), true),
            (NetworkState(.online, kind: .wifi, isExpensive: true), false),
            (NetworkState(.online, kind: .wifi, isExpensive: false, isConstrained: true), false),
            (NetworkState(.online, kind: .cellular), false),
            (NetworkState(.online, kind: .cellular, isExpensive: false), true),
            (NetworkState.unknown, true),
            (NetworkState.offline, false),
        ])
    func wifi(_ network: NetworkState, isMet: Bool) {
        #expect(NetworkCondition.wifi.isMet(by: network) == isMet)
    }

    @Test("work that wants a network waits only where there is known to be none")
    func online() {
        let states: [NetworkState] = [.online, .unknown, NetworkState(.online, kind: .cellular, isExpensive: true)]
        #expect(states.allSatisfy(NetworkCondition.online.isMet))
        #expect(!NetworkCondition.online.isMet(by: .offline))
        #expect(NetworkCondition.any.isMet(by: .offline))
    }
}
