import Testing

import Larder
@testable import LarderPlugins

@Suite struct SQLiteQueueTests {
    private func text(_ queue: SQLiteQueue, _ key: Key) -> String? {
        switch queue.pending(key) {
        case .entry(let entry): entry.text
        case .removal: "removed"
        case nil: nil
        }
    }

    /// The items as text: `write a`, `remove`.
    private func names(_ items: [SQLiteQueue.Item]) -> [String] {
        items.map { item in
            switch item.change {
            case .write(let entry, _): "write \(entry.text)"
            case .renew: "renew"
            case .expire: "expire"
            case .remove(_, let keys): "remove \(keys.count)"
            case .pin, .unpin: "pin"
            case .nothing: "nothing"
            }
        }
    }

    private func write(_ text: String, _ id: String, scope: String? = nil, tags: [String] = []) -> SQLiteQueue.Change {
        var entry = Entry(text: text)
        entry.metadata.tags = tags
        return .write(entry, .id(id, scope: scope))
    }

    @Test func changesAreMadeInTheOrderOfTheCalls() {
        var queue = SQLiteQueue()
        #expect(queue.add(write("1", "a"), caller: nil).isFirst)
        #expect(!queue.add(.expire(.all), caller: nil).isFirst)
        _ = queue.add(write("2", "a"), caller: nil)
        #expect(names(queue.take()) == ["write 1", "expire", "write 2"])
        #expect(queue.isServed)
        #expect(queue.take().isEmpty)
        #expect(!queue.isServed)
        #expect(queue.add(.nothing, caller: nil).isFirst)
    }

    @Test func readsFindWhatWaitsUntilItIsMade() {
        var queue = SQLiteQueue()
        _ = queue.add(write("1", "a"), caller: nil)
        let first = queue.take()
        _ = queue.add(write("2", "a"), caller: nil)
        #expect(text(queue, .id("a")) == "2")
        queue.end(first[0])
        #expect(text(queue, .id("a")) == "2")
        queue.end(queue.take()[0])
        #expect(text(queue, .id("a")) == nil)
        #expect(queue.size == 0)
    }

    @Test func removalGoesPastAllThatWaits() {
        var queue = SQLiteQueue()
        for number in 0..<1_000 { _ = queue.add(write("\(number)", "\(number)"), caller: nil) }
        _ = queue.add(.remove(.scope("alice"), also: []), caller: nil)
        _ = queue.add(.remove(.scope("bob"), also: []), caller: nil)
        #expect(names(queue.take()) == ["remove 0", "remove 0"])
        #expect(queue.take().count == SQLiteQueue.largestGroup.items)
    }

    @Test func removalTakesTheEntriesThatWaitWithIt() {
        var queue = SQLiteQueue()
        _ = queue.add(write("1", "a", scope: "alice"), caller: nil)
        _ = queue.add(write("2", "b", scope: "bob"), caller: nil)
        _ = queue.add(.remove(.scope("alice"), also: []), caller: nil)
        #expect(text(queue, .id("a", scope: "alice")) == "removed")
        #expect(text(queue, .id("b", scope: "bob")) == "2")
        _ = queue.add(write("3", "a", scope: "alice"), caller: nil)
        #expect(text(queue, .id("a", scope: "alice")) == "3")
        let removal = queue.take()
        #expect(names(removal) == ["remove 2"])
        queue.end(removal[0])
        #expect(names(queue.take()) == ["write 2", "write 3"])
    }

    @Test func entryBehindAnotherOneWithTheTagIsRemovedToo() {
        // The entry in the database has no tag. It would be found again if only the waiting entry were taken.
        var queue = SQLiteQueue()
        _ = queue.add(write("1", "a", tags: ["sale"]), caller: nil)
        _ = queue.add(.remove(.tag("sale"), also: []), caller: nil)
        guard case .remove(_, let keys) = queue.take()[0].change else { return #expect(Bool(false)) }
        #expect(Set(keys) == [.id("a")])
    }

    @Test func entryThatIsBeingWrittenIsHiddenByARemoval() {
        var queue = SQLiteQueue()
        _ = queue.add(write("1", "a"), caller: nil)
        let written = queue.take()
        _ = queue.add(.remove(.all, also: []), caller: nil)
        queue.end(written[0])
        #expect(text(queue, .id("a")) == "removed")
        queue.end(queue.take()[0])
        #expect(text(queue, .id("a")) == nil)
    }

    @Test func entryThatCouldNotBeWrittenNorRemovedStaysHidden() {
        var queue = SQLiteQueue()
        _ = queue.add(write("1", "a"), caller: nil)
        queue.end(queue.take()[0], leavesOlder: true)
        #expect(text(queue, .id("a")) == "removed")
        _ = queue.add(write("2", "a"), caller: nil)
        queue.end(queue.take()[0])
        #expect(text(queue, .id("a")) == nil)
    }

    @Test func onlyTheLastWriteOfAnEntryIsLast() {
        var queue = SQLiteQueue()
        _ = queue.add(write("1", "a"), caller: nil)
        _ = queue.add(write("2", "a"), caller: nil)
        let items = queue.take()
        #expect(items.map(queue.isLast) == [false, true])
    }

    @Test func groupsAreLimitedInBytes() {
        var queue = SQLiteQueue()
        for number in 0..<10 {
            let entry = Entry(text: String(repeating: "x", count: 1_500_000))
            _ = queue.add(.write(entry, .id("\(number)")), caller: nil)
        }
        #expect(queue.take().count == 3)
    }
}
