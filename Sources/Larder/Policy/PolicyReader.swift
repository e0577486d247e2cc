/// Turns policy files into policies, or into everything that is wrong with them.
package struct PolicyReader {
    package let registry: Registry
    var files: PolicyFiles
    private let environment: EnvironmentReader
    /// The one file that is read, whatever it is called; nil for all that are policies.
    private(set) var only: String?
    /// Whether what belongs to the process is looked at.
    private var readsProcess = true
    /// The strategy that is taken instead of each policy's own, its settings left standing.
    private var strategy: String?

    /// The folder, as messages call it.
    package var folder: String { files.folder }

    /// What was found out about one file.
    package struct Verdict {
        /// The policy, if it can be used.
        package var policy: Policy?
        /// What is wrong with it, warnings too, in the order in which it stands.
        package var problems: [Problem]
        /// The files it extends.
        var bases: [String] = []

        package init(policy: Policy? = nil, problems: [Problem]) {
            self.policy = policy
            self.problems = problems
        }
    }

    package init(registry: Registry, folder: String, environment: [String: String]) {
        self.registry = registry
        files = PolicyFiles(folder: folder)
        self.environment = EnvironmentReader(variables: environment)
    }

    /// One file, whatever it is called, perhaps with another strategy under the same settings.
    package init(registry: Registry, file: String, strategy: String? = nil, environment: [String: String]) {
        let slash = file.lastIndex(of: "/")
        let folder = slash.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
        self.init(registry: registry, folder: folder, environment: environment)
        only = slash.map { String(file[file.index(after: $0)...]) } ?? file
        self.strategy = strategy
    }

    /// The same without what belongs to the process: for trying policies in a process that is none of theirs.
    package var withoutProcess: PolicyReader {
        var copy = self
        copy.readsProcess = false
        return copy
    }

    /// The same policies, with what their files said before in the place of what they say now. What policies read, such as
    /// the file of a fallback, still lies in the folder.
    func reading(_ texts: [String: [UInt8]]) -> PolicyReader {
        var copy = self
        copy.files.texts = texts
        return copy
    }

    /// The policies of the folder, in the order of their names.
    ///
    /// - Throws: ``PolicyError`` with every problem of every file.
    package func readAll() throws(PolicyError) -> [Policy] {
        let verdicts = try judgeAll()
        let problems = verdicts.filter { $0.policy == nil }.flatMap(\.problems)
        if !problems.isEmpty { throw PolicyError(problems) }
        return verdicts.compactMap(\.policy)
    }

    /// The names of the folder's policy files, in order.
    ///
    /// - Throws: ``PolicyError`` when the folder cannot be read.
    package func names() throws(PolicyError) -> [String] {
        if let only { return [only] }
        do { return try files.stamps().map(\.name).sorted() } catch { throw PolicyError([error]) }
    }

    /// What the folder's `_larder.json` says; nothing if there is none.
    ///
    /// - Throws: ``PolicyError`` with everything that is wrong with it.
    package func process() throws(PolicyError) -> ProcessSettings {
        try readProcess().settings
    }

    /// The same, with the file's bytes if there is one.
    func readProcess() throws(PolicyError) -> (settings: ProcessSettings, bytes: [UInt8]?) {
        let verdict = judgeProcess()
        if let settings = verdict.settings { return (settings, verdict.bytes) }
        throw PolicyError(verdict.problems)
    }

    /// What is to be said about the folder's `_larder.json`.
    package func judgeProcess() -> (settings: ProcessSettings?, problems: [Problem], bytes: [UInt8]?) {
        guard readsProcess, only == nil, files.has(ProcessSettings.file) else { return (ProcessSettings(), [], nil) }
        let reading = Reading(
            registry: registry, folder: files.folder, file: files.folder + "/" + ProcessSettings.file)
        do {
            let root = try files.root(of: ProcessSettings.file)
            let settings = SettingType.process.read(environment.fill(root, reading), reading)
            return (
                reading.isSound ? settings : nil, reading.problems.sorted(by: Problem.standsBefore),
                root.place.source.bytes
            )
        } catch {
            return (nil, [error], nil)
        }
    }

    /// Whether a resource can be called this: its policy's file bears the name.
    package static func isName(_ name: String) -> Bool {
        PolicyFiles.isPolicy(name + ".json") && !name.isEmpty && !name.contains("/")
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// What is to be said about each file of the folder.
    ///
    /// - Throws: ``PolicyError`` when the folder cannot be read or holds no policy.
    package func judgeAll() throws(PolicyError) -> [Verdict] {
        let names = try names()
        if names.isEmpty { throw none }
        var bases = Bases()
        return names.map { judge($0, over: &bases) }
    }

    /// Says that there is nothing to read.
    var none: PolicyError {
        PolicyError([
            Problem("there are no policies in this folder", file: files.folder, expected: "a file such as feed.json")
        ])
    }

    /// What is to be said about the file called `name`.
    package func judge(_ name: String) -> Verdict {
        var bases = Bases()
        return judge(name, over: &bases)
    }

    func judge(_ name: String, over bases: inout Bases) -> Verdict {
        let reading = Reading(registry: registry, folder: files.folder, file: files.folder + "/" + name)
        do {
            let read = try files.tree(name, over: &bases)
            let tree = read.root
            let own = only == nil ? nil : tree["resource"]?.string.flatMap { Self.isName($0) ? $0 : nil }
            let policy = check(
                strategy.map(tree.swapping) ?? tree, named: own ?? String(name.dropLast(".json".count)), reading)
            let problems = reading.problems.sorted(by: Problem.standsBefore)
            var verdict = Verdict(policy: reading.isSound ? policy?.warned(of: problems) : nil, problems: problems)
            verdict.bases = read.bases
            return verdict
        } catch {
            return Verdict(policy: nil, problems: [error])
        }
    }

    private func check(_ root: Node, named name: String, _ reading: Reading) -> Policy? {
        checkKeys(of: root, reading)
        let about = text("about", of: root, reading)
        _ = text("$schema", of: root, reading)
        checkName(name, root, reading)
        var parts: [String: [Part]] = [:]
        var filled = root
        for slot in PolicySlot.all {
            guard let node = root[slot.name] else { continue }
            reading.inside("." + slot.name) {
                let node = environment.fill(node, reading)
                if node.isFilled { filled = filled.replacing(slot.name, with: node) }
                parts[slot.name] = self.parts(slot, node, reading)
            }
        }
        guard let strategy = parts["strategy"]?.first else {
            if root["strategy"] == nil { missing(.strategy, root, reading) }
            return nil
        }
        if root["origin"] == nil, strategy.plugin.needs.contains(.origin) { missing(.origin, root, reading) }
        let told = root["log"].map { node in reading.inside(".log") { SettingType.told.read(node, reading) } }
        var policy = Policy(
            resource: name, about: about, file: reading.file, tree: filled, origin: parts["origin"]?.first,
            around: parts["around"] ?? [], strategy: strategy, validators: parts["validators"] ?? [],
            store: parts["store"]?.first, fallbacks: parts["fallbacks"] ?? [])
        if let told { policy.told = told ?? 1 }
        if reading.isSound { LintRule.judge(policy, reading) }
        return policy
    }

    private func checkKeys(of root: Node, _ reading: Reading) {
        let known = PolicySlot.keys
        for member in root.members ?? [] where !known.contains(member.name) {
            reading.inside(".\(member.name.prefix(64))") {
                reading.report(
                    "unknown key '\(member.name.prefix(64))'", at: member.place,
                    expected: "one of " + known.map { "'\($0)'" }.joined(separator: ", "),
                    suggestion: nearest(to: member.name, among: known))
            }
        }
    }

    private func checkName(_ name: String, _ root: Node, _ reading: Reading) {
        guard let node = root["resource"] else {
            reading.report(
                "the policy does not name its resource", at: root.place, expected: "\"resource\": \"\(name)\"")
            return
        }
        reading.inside(".resource") {
            if node.string == nil {
                reading.reject(node, expected: "\"\(name)\"")
            } else if node.string != name {
                reading.report("the resource is not called like its file", at: node.place, expected: "\"\(name)\"")
            }
        }
    }

    private func text(_ name: String, of root: Node, _ reading: Reading) -> String? {
        guard let node = root[name] else { return nil }
        return reading.inside(".\(name)") { SettingType.text.read(node, reading) }
    }

    private func missing(_ kind: PluginKind, _ root: Node, _ reading: Reading) {
        let names = reading.registry[kind].map { "'\($0.name)'" }.joined(separator: ", ")
        reading.report("the policy has no \(kind)", at: root.place, expected: "\"\(kind)\": one of \(names)")
    }

    private func parts(_ slot: PolicySlot, _ node: Node, _ reading: Reading) -> [Part] {
        guard slot.isList else { return Part(slot.kind, node, reading).map { [$0] } ?? [] }
        return SettingType.list(of: .part(slot.kind)).read(node, reading) ?? []
    }
}

extension Problem {
    package static func standsBefore(_ one: Problem, _ other: Problem) -> Bool {
        (one.file, one.place?.offset ?? -1) < (other.file, other.place?.offset ?? -1)
    }
}

extension Node {
    /// The same object with another value for one of its members.
    func replacing(_ name: String, with value: Node) -> Node {
        guard var members, let place = members.firstIndex(where: { $0.name == name }) else { return self }
        members[place].value = value
        return Node(.object(members), at: self.place)
    }
}

extension Node {
    /// A policy that names another strategy and leaves its settings as they are.
    fileprivate func swapping(_ strategy: String) -> Node {
        guard let old = self["strategy"] else { return self }
        let name = Node(.string(strategy), at: old["use"]?.place ?? old.place)
        return replacing("strategy", with: old.members == nil ? name : old.replacing("use", with: name))
    }
}
