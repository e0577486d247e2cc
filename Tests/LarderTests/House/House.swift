import LarderFoundation
import Larder

/// The rules of the house that can be read off its sources. Each gives what breaks it, in words.
struct House {
    /// Each room and the rooms it may know.
    var floors: [String: Set<String>]
    var files: [SwiftSource]

    /// The floors of the library's modules, from the ground up: the rooms of LarderCore, LarderPlugins and LarderStories,
    /// and the other modules as one room each.
    static let floors: [String: Set<String>] = {
        var floors: [String: Set<String>] = ["LarderSystem": []]
        floors["JSON"] = ["LarderSystem"]
        floors["Loading"] = ["LarderSystem"]
        var below: Set<String> = ["LarderSystem", "JSON", "Loading"]
        for room in ["Metrics", "Graph", "Plugins", "Policy", "Agenda", "Composition"] {
            floors[room] = below
            below.insert(room)
        }
        floors["Screens"] = below
        for folder in plugins { floors[folder] = below }
        floors["LarderPlugins"] = below.union(plugins)
        floors["Larder"] = below.union(plugins).union(["LarderPlugins"])
        below.formUnion(plugins.union(["LarderPlugins", "Larder"]))
        for room in ["Story", "Player", "Records", "Proof", "Comparison", "Scenarios", "Conformance"] {
            floors[room] = below
            below.insert(room)
        }
        return floors
    }()

    /// The rooms of LarderCore.
    static let coreRooms: Set = [
        "Loading", "JSON", "Metrics", "Graph", "Plugins", "Policy", "Agenda", "Composition", "Screens",
    ]

    /// The names of the standard plugins.
    static let pluginNames = Set(Plugin.standard.map(\.name))

    /// The sources of the library's modules, each under its room.
    static func sources(in root: URL) throws -> [SwiftSource] {
        try ["LarderSystem", "LarderCore", "LarderPlugins", "Larder", "LarderStories"].flatMap { module in
            try SwiftSource.all(below: root.appending(path: "Sources/" + module)).map { file in
                let hasRooms = ["LarderCore", "LarderStories"].contains(module)
                let isRoom = hasRooms || module == "LarderPlugins" && !file.folder.isEmpty
                return isRoom ? file : SwiftSource(module + "/" + file.path, file.text)
            }
        }
    }

    /// The folders of plugins, which know all below and never each other.
    static let plugins: Set<String> = [
        "Strategies", "Wrappers", "Validators", "Origins", "Stores", "Eviction", "Sections", "HTTP",
    ]

    /// Types that are named where their folder must not be known.
    var reachingUp: [String] {
        var home: [String: Set<String>] = [:]
        for file in files { for type in file.types { home[type, default: []].insert(file.folder) } }
        return files.flatMap { file -> [String] in
            guard let known = floors[file.folder] else { return ["\(file.path): no room of the map"] }
            let own = Set(zip(file.words, file.words.dropFirst()).filter { Self.declares($0.0.word) }.map(\.1.word))
            return file.words.compactMap { word, line in
                guard let rooms = home[word], !own.contains(word), !rooms.contains(file.folder),
                    rooms.isDisjoint(with: known)
                else { return nil }
                return "\(file.path):\(line): \(file.folder) knows \(word) of \(rooms.sorted().joined(separator: ", "))"
            }
        }
    }

    /// Plugins that are named outside their file and `list`: as `Plugin.name`, or as `.name` where that cannot mean
    /// anything else.
    func named(outside list: String) -> [String] {
        var homes: [String: String] = [:]
        for file in files where Self.plugins.contains(file.folder) {
            for member in file.members(of: "Plugin") where member != "origin" { homes[member] = file.path }
        }
        var ambiguous: Set<String> = []
        for file in files {
            for (before, after) in zip(file.words, file.words.dropFirst()) where homes[after.word] != nil {
                let isPlugin = homes[after.word] == file.path
                if ["var", "let", "func", "case"].contains(before.word), !isPlugin { ambiguous.insert(after.word) }
            }
        }
        return files.filter { $0.path != list }.flatMap { file in
            homes.filter { $0.value != file.path }.flatMap { member, _ in
                let named = file.lines(with: "Plugin." + member)
                let implied = ambiguous.contains(member) ? [] : file.lines(with: "." + member)
                return Set(named + implied).map { "\(file.path):\($0): names \(member)" }
            }
        }.sorted()
    }

    /// Names of plugins in the strings of some rooms: a name by itself, or one in quotation marks or brackets as messages have it.
    func quoted(_ names: Set<String>, in rooms: Set<String>, except allowed: Set<String> = []) -> [String] {
        let wanted = names.subtracting(allowed)
        return files.filter { rooms.contains($0.folder) }.flatMap { file in
            file.literals.flatMap { text, line in
                wanted.filter { text == $0 || text.contains("'\($0)'") || text.contains(".\($0)[") }.sorted()
                    .map { "\(file.path):\(line): names \($0)" }
            }
        }
    }

    /// Imports of the package's modules that a module must not make.
    static func imports(below root: URL, allowed: [String: Set<String>]) throws -> [String] {
        try allowed.sorted { $0.key < $1.key }.flatMap { module, others in
            try SwiftSource.all(below: root.appending(path: "Sources/" + module)).flatMap { file in
                file.code.compactMap { line -> String? in
                    let words = SwiftSource.words(of: line)
                    guard let place = words.firstIndex(of: "import"), place + 1 < words.count else { return nil }
                    let kinds: Set = ["struct", "class", "enum", "protocol", "func", "typealias"]
                    let name =
                        kinds.contains(words[place + 1]) && place + 2 < words.count
                        ? words[place + 2] : words[place + 1]
                    // A file that tests also compile imports its own module there.
                    guard name.contains("Larder"), name != module, !others.contains(name) else { return nil }
                    return "\(module)/\(file.path) imports \(name)"
                }
            }
        }
    }

    /// Code that must not stand outside the rooms in `except`.
    func uses(of phrases: [String], except rooms: Set<String> = []) -> [String] {
        files.filter { !rooms.contains($0.folder) }.flatMap { file in
            phrases.flatMap { phrase in file.lines(with: phrase).map { "\(file.path):\($0): \(phrase)" } }
        }
    }

    /// A `!` that takes a value by force: after `try`, `as`, a name or a closing bracket.
    var forced: [String] {
        files.flatMap { file in
            file.code.enumerated().compactMap { number, line in
                let bytes = Array(line.utf8)
                let isForced = bytes.indices.dropFirst().contains { place in
                    guard bytes[place] == UInt8(ascii: "!") else { return false }
                    let isUnequal = place + 1 < bytes.count && bytes[place + 1] == UInt8(ascii: "=")
                    let before = bytes[place - 1]
                    return !isUnequal && (SwiftSource.isLetter(before) || ")]}>".utf8.contains(before))
                }
                return isForced ? "\(file.path):\(number + 1): takes by force" : nil
            }
        }
    }

    /// `@unchecked Sendable` without a reason in the comment right above it.
    var unreasoned: [String] {
        files.flatMap { file -> [String] in
            let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
            return file.code.enumerated().compactMap { number, line in
                guard line.contains("@unchecked Sendable") else { return nil }
                let above = lines[..<number].reversed().prefix { line in
                    ["///", "@"].contains { line.drop { $0 == " " }.hasPrefix($0) }
                }
                return above.contains { $0.contains("`@unchecked Sendable`: ") } ? nil : "\(file.path):\(number + 1)"
            }
        }
    }

    /// Files longer than `most` lines.
    func long(_ most: Int) -> [String] {
        files.filter { $0.text.utf8.reduce(0) { $1 == 10 ? $0 + 1 : $0 } > most }.map(\.path)
    }

    private static func declares(_ word: String) -> Bool {
        ["struct", "class", "enum", "actor", "protocol", "typealias", "associatedtype", "case"].contains(word)
    }
}
