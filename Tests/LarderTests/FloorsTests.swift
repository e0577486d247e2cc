import FoundationEssentials
import Testing

@Suite struct FloorsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let read = Result {
        try House(floors: House.floors, files: SwiftSource.all(below: root.appending(path: "Sources/Larder")))
    }

    private let house: House

    init() throws {
        house = try Self.read.get()
    }

    @Test func theSourcesAreFound() {
        #expect(house.files.count > 50)
        #expect(Set(house.files.map(\.folder)) == Set(House.floors.keys))
    }

    @Test func noRoomKnowsOneAboveIt() {
        #expect(house.reachingUp == [])
    }

    @Test func onlyTheListOfStandardPluginsNamesAPlugin() {
        #expect(house.named(outside: "Composition/StandardPlugins.swift") == [])
    }

    @Test func timeChanceAndBackgroundWorkAreReadInTheWorldOnly() {
        let phrases = [
            "Task {", "Task(", "Task.detached", "Task.sleep", "Date(", "Date.now", "UUID(", ".random(", ".shuffled(",
            ".shuffle(", ".randomElement(", "SystemRandomNumberGenerator", "ContinuousClock", "SuspendingClock",
            "clock_gettime", "DispatchQueue", "Thread(", "usleep",
        ]
        #expect(house.uses(of: phrases, except: ["World"]) == [])
    }

    @Test func nothingTrapsOrPrints() {
        #expect(house.forced == [])
        #expect(house.uses(of: ["fatalError(", "preconditionFailure(", "print(", "debugPrint("]) == [])
    }

    @Test func everyUncheckedSendableHasItsReason() {
        #expect(house.unreasoned == [])
    }

    @Test func noFileIsLongerThan500Lines() {
        #expect(house.long(500) == [])
    }

    @Test func theTopOfTheRepositoryIsTidy() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.root.path).filter { !$0.hasPrefix(".") }
        #expect(Set(names).subtracting(["Package.swift", "Sources", "Tests", "Policies", "README.md"]) == [])
        #expect(Set(names).isSuperset(of: ["Package.swift", "Sources", "Tests"]))
    }
}

/// The checks themselves can fail.
@Suite struct HouseTests {
    private func house(_ files: (String, String)...) -> House {
        House(floors: House.floors, files: files.map { SwiftSource($0.0, $0.1) })
    }

    @Test func aRoomThatKnowsOneAboveItIsFound() {
        let composer = ("Composition/Composer.swift", "struct Composer {}\n")
        let key = ("Loading/Key.swift", "public struct Key {\n    let maker: Composer?\n}\n")
        let lru = ("Eviction/LRU.swift", "struct LRU {}\n")
        let memory = ("Stores/Memory.swift", "struct Memory {\n    let eviction = LRU()\n    let key: Key\n}\n")
        #expect(
            house(composer, key, lru, memory).reachingUp == [
                "Loading/Key.swift:2: Loading knows Composer of Composition",
                "Stores/Memory.swift:2: Stores knows LRU of Eviction",
            ])
        #expect(house(("Attic/Box.swift", "")).reachingUp == ["Attic/Box.swift: no room of the map"])
        #expect(house(("Loose.swift", "")).reachingUp == ["Loose.swift: no room of the map"])
    }

    @Test func commentsStringsAndNamesOfItsOwnAreNoKnowledge() {
        let composer = ("Composition/Composer.swift", "struct Composer {}\nprivate struct State {}\n")
        let key = (
            "Loading/Key.swift",
            #"""
            // Composer /* and Composer
            /* Composer /* nested */ Composer */
            let text = "Composer" + #"a "Composer" \(Composer)"# + "\"Composer"
            let lines = """
                Composer "Composer"
                """
            struct State {}
            """#
        )
        #expect(house(composer, key).reachingUp == [])
        let interpolated = ("Loading/Key.swift", #"let text = "a \(name("b", Composer.self)) c""# + "\n")
        #expect(
            house(composer, interpolated).reachingUp == ["Loading/Key.swift:1: Loading knows Composer of Composition"])
    }

    @Test func aPluginNamedOutsideTheListIsFound() {
        let store = ("Stores/MemoryStore.swift", "extension Plugin {\n    static let memoryStore = 1\n}\n")
        let timeout = ("Wrappers/Timeout.swift", "extension Plugin {\n    static let timeout = 1\n}\n")
        let error = ("Loading/LoadError.swift", "struct Code { static let timeout = 1 }\nlet code = Code.timeout\n")
        let list = ("Composition/StandardPlugins.swift", "let all = [.memoryStore, Plugin.timeout]\n")
        let other = ("Policy/Other.swift", "let a = [.memoryStore]\nlet b = Plugin.timeout\nlet c = x.memoryStoreX\n")
        #expect(
            house(store, timeout, error, list, other).named(outside: "Composition/StandardPlugins.swift")
                == ["Policy/Other.swift:1: names memoryStore", "Policy/Other.swift:2: names timeout"])
    }

    @Test func forbiddenCodeIsFound() {
        let code = """
            let a = try! b()
            let c = d as! E
            let f = g[0]! + h()!
            if !i, j != k, l !== m { }
            let task: Task<Void, Never> = Task { print(1) }
            let n = "try! o()"; footprint(2)
            """
        let file = house(("Graph/A.swift", code))
        #expect(file.forced == (1...3).map { "Graph/A.swift:\($0): takes by force" })
        #expect(file.uses(of: ["Task {", "print("]) == ["Graph/A.swift:5: Task {", "Graph/A.swift:5: print("])
        #expect(file.uses(of: ["Task {"], except: ["Graph"]) == [])
        #expect(file.long(5) == [] && file.long(4) == ["Graph/A.swift"])
    }

    @Test func anUncheckedSendableWithoutItsReasonIsFound() {
        let good = "/// A box.\n/// `@unchecked Sendable`: it is locked.\n@objc\nclass A: @unchecked Sendable {}\n"
        let bad = "/// `@unchecked Sendable`: it is locked.\n\nclass A: @unchecked Sendable {}\n"
        #expect(house(("Graph/A.swift", good)).unreasoned == [])
        #expect(house(("Graph/A.swift", bad)).unreasoned == ["Graph/A.swift:3"])
    }
}
