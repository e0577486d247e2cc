import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderCore

/// Changes by others, when there are more of them than the graph can heed.
@Suite struct StoreChangeTests {
    @Test func changeOfAllEntriesTakesThePlaceOfTooManyChanges() throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore("shared", tellsChanges: true, world: world)
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: #"[{ "use": "age", "fresh": "1h" }]"#,
                store: #"{ "use": "tiered", "tiers": ["memory", "shared"] }"#, plugins: [store.plugin])
            simulated.origin.play(.value("one"), .value("two"), .value("slow"))
            for id in ["1", "2"] { _ = try await simulated.feed.load(["id": id]) }
            let notes = Locked<[String]>([])
            let listening = world.start { [decisions = simulated.pantry.decisions] in
                for await decision in decisions { notes.withLock { $0.append(decision.note) } }
            }
            // A write that hangs keeps the first change waiting for its turn.
            store.play(.takes(.seconds(5)), for: .write)
            let slow = world.start { try await simulated.feed.load(["id": "slow"]) }
            try await world.sleep(for: .seconds(1))
            func change(_ id: String) {
                let entry = Entry(Data("theirs".utf8), Metadata(fetchedAt: world.now))
                store.change(simulated.key(["id": id]), to: entry)
            }
            change("slow")
            try await world.settle()
            change("1")
            for _ in 0..<5 {
                for number in 0..<700 { change("other-\(number)") }
                try await world.settle()
            }
            _ = try await slow.value()
            try await world.settle()
            #expect(try await simulated.feed.load(["id": "1"]).text == "theirs")
            #expect(try await simulated.feed.load(["id": "2"]).source == .store("shared"), "it was dropped as well")
            #expect(notes.withLock { $0 } == ["too many changes by others: all copies of the upper tiers are dropped"])
            listening.cancel()
            _ = await listening.result()
        }
    }

    @Test func waitingChangesAreBounded() async {
        let waiting = WaitingChanges()
        var news = 0
        for number in 0..<(3 * WaitingChanges.capacity) where waiting.add(StoreChange(.tag("\(number)"))) { news += 1 }
        waiting.finish()
        var selections: [Selection] = []
        while let change = await waiting.next() { selections.append(change.selection) }
        #expect(news == 1 && selections.first == .all && selections.count <= WaitingChanges.capacity)
        #expect(selections.last == .tag("\(3 * WaitingChanges.capacity - 1)") || selections.last == .all)
    }

    @Test func changeThatFindsNoRoomInAStreamIsFollowedByOneOfAllEntries() async {
        let discarded = Locked<[Selection]>([])
        let (stream, sink) = StoreChange.makeStream(keeping: 3)
        for number in 0..<20 {
            sink.send(StoreChange(.tag("\(number)")) { selection in discarded.withLock { $0.append(selection) } })
        }
        sink.finish()
        var selections: [Selection] = []
        for await change in stream {
            selections.append(change.selection)
            try? await change.discard()
        }
        #expect(selections.count == 3 && selections.contains(.all) && selections.contains(.tag("19")))
        #expect(discarded.withLock { $0 } == selections)
    }

    @Test func newestAnswersOfManyVariantsAreForgottenButNotOverwritten() async {
        let order = KeyTable()
        let base = Key(resource: "feed")
        func write(_ ticket: Ticket, _ digest: String) async -> Bool {
            await order.perform(ticket, at: { base.variant(digest) }) {} == .done
        }
        let (holding, late) = (order.begin(base), order.begin(base))
        for number in 0..<1_500 { #expect(await write(order.begin(base), String(number, radix: 16))) }
        #expect(await !write(late, "0"), "the newest answer of this variant is forgotten")
        #expect(await !write(late, String(1_499, radix: 16)))
        #expect(await write(order.begin(base), "0"))
        withExtendedLifetime(holding) {}
    }

    @Test func placeOfAnAnswerIsDecidedInItsTurn() throws {
        try SimulatedWorld().run { world in
            let order = KeyTable()
            let base = Key(resource: "feed")
            let place = Locked("a")
            let written = Locked<[String]>([])
            @Sendable func write(after time: Duration) async -> Bool {
                var key = base
                return await order.perform(order.begin(base)) {
                    key = base.variant(place.withLock { $0 })
                    return key
                } _: {
                    try? await world.sleep(for: time)
                    place.withLock { $0 += "b" }
                    written.withLock { $0.append(key.text) }
                } == .done
            }
            let first = world.start { await write(after: .seconds(5)) }
            try await world.settle()
            let second = world.start { await write(after: .zero) }
            #expect(try await first.value())
            #expect(try await second.value())
            #expect(written.withLock { $0 } == [base.variant("a").text, base.variant("ab").text])
        }
    }
}
