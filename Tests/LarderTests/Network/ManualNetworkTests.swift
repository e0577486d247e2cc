import Larder
import Testing

@testable import LarderCore

@Suite(.timeLimit(.minutes(20))) struct ManualNetworkTests {
    private static let states = NetworkState.Reach.allCases.flatMap { reach in
        ([nil] + NetworkState.Kind.allCases).flatMap { kind in
            [nil, false, true].flatMap { isExpensive in
                [nil, false, true].map {
                    NetworkState(reach, kind: kind, isExpensive: isExpensive, isConstrained: $0)
                }
            }
        }
    }

    @Test func everyStateIsKeptAsItWasSet() {
        let network = ManualNetwork()
        #expect(network.state == .unknown)
        #expect(Self.states.count == 135)
        for state in Self.states {
            network.state = state
            #expect(network.state == state)
            #expect(ManualNetwork(state).state == state)
        }
    }

    @Test func readerGetsPresentStateAndEachNewOneOnce() async {
        let network = ManualNetwork(.online)
        var states = network.changes.makeAsyncIterator()
        #expect(await states.next() == .online)
        network.state = .online
        network.state = .offline
        #expect(await states.next() == .offline)
        network.state = .online
        network.state = NetworkState(.online, kind: .wifi)
        #expect(await states.next() == NetworkState(.online, kind: .wifi))
    }

    @Test func streamEndsWithItsNetwork() async {
        var network: ManualNetwork? = ManualNetwork(.offline)
        var states = network?.changes.makeAsyncIterator()
        network = nil
        #expect(await states?.next() == .offline)
        #expect(await states?.next() == nil)
    }

    @Test func lastStateOfManyWritersReachesReader() async {
        let network = ManualNetwork()
        let states = network.changes
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<1_000 { network.state = Self.states[(writer * 31 + number * 7) % 135] }
                }
            }
        }
        var reader = states.makeAsyncIterator()
        #expect(await reader.next() == network.state)
    }

    @Test func worldTellsStateOfItsSource() async {
        let network = ManualNetwork(.offline)
        let world = SystemWorld(network: network)
        #expect(world.network == .offline)
        var states = world.networkChanges.makeAsyncIterator()
        #expect(await states.next() == .offline)
        network.state = NetworkState(.online, kind: .wired)
        #expect(world.network == NetworkState(.online, kind: .wired))
        #expect(await states.next() == NetworkState(.online, kind: .wired))
    }
}
