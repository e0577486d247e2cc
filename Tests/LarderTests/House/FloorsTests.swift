import LarderFoundation
import Larder
import LarderCore
import Testing

@Suite struct FloorsTests {
    private static let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    private static let read = Result {
        try House(floors: House.floors, files: House.sources(in: root))
    }

    private let house: House

    init() throws {
        house = try Self.read.get()
    }

    @Test func sourcesAreFound() {
        #expect(house.files.count > 50)
        #expect(Set(house.files.map(\.folder)) == Set(House.floors.keys))
    }

    @Test func noFolderUsesHigherFolder() {
        #expect(house.reachingUp == [])
    }

    @Test func commentsBeginWithTheThingThatTheyDescribe() throws {
        let riddle = #/^ *\/\/+ (What|Whose|Who|Whoever|Whatever)\b/#.anchorsMatchLineEndings()
        for folder in ["Sources", "Tests"] {
            let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.root.path + "/" + folder)
            for path in paths where path.hasSuffix(".swift") {
                let text = try String(contentsOf: Self.root.appending(path: "\(folder)/\(path)"), encoding: .utf8)
                if let match = text.firstMatch(of: riddle) { Issue.record("\(folder)/\(path): \(match.output.0)") }
            }
        }
    }

    @Test func onlyListOfStandardPluginsNamesPlugins() {
        #expect(house.named(outside: "LarderPlugins/StandardPlugins.swift") == [])
    }

    @Test func countersAndLevelsOfPluginsAreNamedOnlyInPlugins() {
        let names = Registry.standard.counters.map(\.name) + Registry.standard.levels.map(\.name)
        #expect(names.count >= 7)
        for file in house.files where House.coreRooms.contains(file.folder) {
            for name in names where file.text.contains("\"\(name)\"") {
                Issue.record("\(file.path) names \(name)")
            }
        }
    }

    @Test func modulesImportOnlyThoseBelowThem() throws {
        let base: Set = ["LarderSystem", "LarderFoundation"]
        let allowed: [String: Set<String>] = [
            "CLarder": [], "LarderFoundation": [], "LarderSystem": ["CLarder", "LarderFoundation"],
            "LarderCore": base, "LarderPlugins": base.union(["CLarder", "LarderCore"]),
            "Larder": base.union(["LarderCore", "LarderPlugins"]),
            "LarderSimulation": base.union(["Larder", "LarderSync"]),
            "LarderReports": base.union(["Larder"]), "LarderEditions": base.union(["Larder"]),
            "LarderSync": base.union(["Larder"]),
            "LarderStories": base.union(["Larder", "LarderSimulation", "LarderSync"]),
            // LarderPlugins for what only the demo uses, and what only the benchmark does.
            "LarderCommand": base.union([
                "Larder", "LarderEditions", "LarderPlugins", "LarderReports", "LarderSimulation", "LarderStories",
                "LarderSync",
            ]),
            "LarderTool": ["LarderCommand"],
            "LarderBench": base.union([
                "CLarder", "Larder", "LarderPlugins", "LarderSimulation", "LarderStories", "LarderSync",
            ]),
        ]
        let modules = try FileManager.default.contentsOfDirectory(atPath: Self.root.path + "/Sources")
        #expect(Set(modules) == Set(allowed.keys))
        let forbidden = try House.imports(below: Self.root, allowed: allowed)
        #expect(forbidden == [])
        let package = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
        let plugins = package.split(separator: "target(").first {
            $0.contains("name: \"LarderPlugins\"") && !$0.contains("products")
        }
        #expect(plugins?.contains("packageAccess: false") == true)
    }

    @Test func stringsOfSeamsNameNoPlugin() {
        // These are words of the core, too: an entry's age, a file, the limit that every store takes, no value.
        let words: Set = ["age", "file", "limit", "none"]
        #expect(house.quoted(House.pluginNames, in: House.coreRooms, except: words) == [])
    }

    @Test func onlyWorldUsesClocksRandomnessAndTasks() {
        let phrases = [
            "Task {", "Task(", "Task.detached", "Task.sleep", "Date(", "Date.now", "UUID(", ".random(", ".shuffled(",
            ".shuffle(", ".randomElement(", "SystemRandomNumberGenerator", "ContinuousClock", "SuspendingClock",
            "clock_gettime", "DispatchQueue", "Thread(", "usleep",
        ]
        #expect(house.uses(of: phrases, except: ["LarderSystem"]) == [])
    }

    @Test func sourcesNeitherTrapNorPrint() {
        #expect(house.forced == [])
        #expect(house.uses(of: ["fatalError(", "preconditionFailure(", "print(", "debugPrint("]) == [])
    }

    @Test func everyUncheckedSendableHasItsReason() {
        #expect(house.unreasoned == [])
    }

    @Test func noFileIsLongerThan500Lines() {
        #expect(house.long(500) == [])
    }

    @Test func repositoryRootHasOnlyExpectedFiles() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.root.path).filter { !$0.hasPrefix(".") }
        #expect(Set(names).subtracting(["Package.swift", "Sources", "Tests", "Policies", "README.md"]) == [])
        #expect(Set(names).isSuperset(of: ["Package.swift", "Sources", "Tests"]))
    }
}

/// The checks can fail.
@Suite struct HouseTests {
    private func house(_ files: (String, String)...) -> House {
        House(floors: House.floors, files: files.map { SwiftSource($0.0, $0.1) })
    }

    @Test func useOfHigherFolderIsFound() {
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

    @Test func commentsStringsAndOwnNamesAreNotUses() {
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

    @Test func pluginNamedOutsideListIsFound() {
        let store = ("Stores/MemoryStore.swift", "extension Plugin {\n    static let memoryStore = 1\n}\n")
        let timeout = ("Wrappers/Timeout.swift", "extension Plugin {\n    static let timeout = 1\n}\n")
        let error = ("Loading/LoadError.swift", "struct Code { static let timeout = 1 }\nlet code = Code.timeout\n")
        let list = ("LarderPlugins/StandardPlugins.swift", "let all = [.memoryStore, Plugin.timeout]\n")
        let other = ("Policy/Other.swift", "let a = [.memoryStore]\nlet b = Plugin.timeout\nlet c = x.memoryStoreX\n")
        #expect(
            house(store, timeout, error, list, other).named(outside: "LarderPlugins/StandardPlugins.swift")
                == ["Policy/Other.swift:1: names memoryStore", "Policy/Other.swift:2: names timeout"])
    }

    @Test func pluginNamedInStringIsFound() {
        let rule = (
            "Policy/Rule.swift",
            #"""
            let a = "no 'sum'"
            let b = "sum"
            let c = "\(x).tiers[0]" // 'sum'
            let d = "sums"
            """#
        )
        let plugin = ("Validators/Sum.swift", #"let name = "sum""# + "\n")
        #expect(
            house(rule, plugin).quoted(["sum", "tiers"], in: ["Policy"])
                == [
                    "Policy/Rule.swift:1: names sum", "Policy/Rule.swift:2: names sum",
                    "Policy/Rule.swift:3: names tiers",
                ])
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

    @Test func uncheckedSendableWithoutReasonIsFound() {
        let good = "/// A box.\n/// `@unchecked Sendable`: it is locked.\n@objc\nclass A: @unchecked Sendable {}\n"
        let bad = "/// `@unchecked Sendable`: it is locked.\n\nclass A: @unchecked Sendable {}\n"
        #expect(house(("Graph/A.swift", good)).unreasoned == [])
        #expect(house(("Graph/A.swift", bad)).unreasoned == ["Graph/A.swift:3"])
    }
}
