@testable import LarderCore
import LarderSystem
import LarderSimulation
import Testing

@Suite struct ListenersTests {
    @Test func listenersAreCalledInOrderOfAddition() {
        let (listeners, heard) = (Listeners<Int>(), Locked<[String]>([]))
        let subscriptions = (0..<5).map { number in
            listeners.add { event in heard.withLock { $0.append("\(number): \(event)") } }
        }
        subscriptions[1].stop()
        subscriptions[1].stop()
        listeners.send(7)
        #expect(heard.withLock { $0 } == ["0: 7", "2: 7", "3: 7", "4: 7"])
        #expect(!listeners.isEmpty)
        for subscription in subscriptions { subscription.stop() }
        #expect(listeners.isEmpty)
    }

    @Test func listenerReceivesNothingAfterSubscriptionIsReleased() {
        let (listeners, heard) = (Listeners<Int>(), Locked(0))
        do { _ = listeners.add { _ in heard.withLock { $0 += 1 } } }
        listeners.send(7)
        #expect(heard.withLock { $0 } == 0 && listeners.isEmpty)
    }

    @Test func streamKeepsTheLastEventsThatItWantsAndEndsWithTheListeners() throws {
        try SimulatedWorld().run { _ in
            var listeners: Listeners<Int>? = Listeners()
            let stream = try #require(listeners).stream(
                most: 3, where: { !$0.isMultiple(of: 2) }, after: { [0] })
            for event in 1...8 { listeners?.send(event) }
            listeners = nil
            var heard: [Int] = []
            for await event in stream { heard.append(event) }
            #expect(heard == [3, 5, 7])
        }
    }

    @Test func streamsEndWithTheListenersAlthoughASubscriptionIsKept() throws {
        try SimulatedWorld().run { world in
            var listeners: Listeners<Int>? = Listeners()
            let subscription = try #require(listeners).add { _ in }
            let stream = try #require(listeners).stream(most: 3)
            let reading = world.start { for await _ in stream {} }
            listeners = nil
            try await world.settle()
            #expect(reading.isOver)
            reading.cancel()
            subscription.stop()
        }
    }

    @Test func nothingIsHeardAfterTheEndAndStreamsAreOver() async {
        let (listeners, heard) = (Listeners<Int>(), Locked<[Int]>([]))
        let early = listeners.stream(most: 3)
        let before = listeners.add { event in heard.withLock { $0.append(event) } }
        listeners.send(1)
        listeners.end()
        let after = listeners.add { event in heard.withLock { $0.append(event) } }
        let late = listeners.stream(most: 3, after: { [7] })
        listeners.send(2)
        #expect(heard.withLock { $0 } == [1])
        #expect(listeners.isEmpty)
        var streamed: [Int] = []
        for await event in early { streamed.append(event) }
        for await event in late { streamed.append(event) }
        #expect(streamed == [1, 7])
        for subscription in [before, after] { subscription.stop() }
    }

    @Test func noEventIsLostOrRepeatedBetweenTheDescriptionAndTheStream() async {
        let (listeners, count, isOver) = (Listeners<Int>(), Locked(0), Locked(false))
        let streams = await withTaskGroup(of: [AsyncStream<Int>].self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var streams: [AsyncStream<Int>] = []
                    repeat {
                        streams.append(listeners.stream(most: 3_000, after: { [count.withLock { $0 }] }))
                        if streams.count > 50 { streams.removeFirst() }
                        await Task.yield()
                    } while !isOver.withLock { $0 }
                    return streams
                }
            }
            for _ in 0..<2_000 {
                listeners.send {
                    count.withLock { count in
                        count += 1
                        return count
                    }
                }
                await Task.yield()
            }
            isOver.withLock { $0 = true }
            var all: [AsyncStream<Int>] = []
            for await streams in group { all += streams }
            return all
        }
        #expect(!streams.isEmpty)
        for stream in streams {
            var next: Int?
            for await event in stream {
                #expect(event == next ?? event)
                next = event + 1
                if event == 2_000 { break }
            }
        }
    }
}
