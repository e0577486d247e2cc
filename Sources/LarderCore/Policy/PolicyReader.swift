import LarderSystem

/// Reads policy files, and returns either policies or all their problems.
package struct PolicyReader: Sendable {
    package let registry: Registry
    /// The keys that policies can have.
    private let members: [PolicyMember]
    /// The types of the keys that have a list of plugins, by key. To make a type takes longer than to read a short list.
    private let lists: [String: SettingType<[Part]>]
    private static let text = SettingType.text
    var files: PolicyFiles
    private let environment: EnvironmentReader
    /// The only file to read, under any name; nil to read all policy files of the folder.
    private(set) var only: String?
    /// The only resource whose policy has to be sound; nil if all have to be.
    private(set) var needed: String?
    /// Whether the settings of the process are read.
    private var readsProcess = true
    /// The strategy that replaces the strategy of each policy. The settings stay.
    private var strategy: String?
    /// The results of texts that were checked before, by the name of the file.
    private var known: [String: CheckResult] = [:]

    /// The folder, as messages show it.
    package var folder: String { files.folder }

    /// The result of checking one file.
    package struct CheckResult: Sendable {
        /// The policy; nil if it has errors.
        package var policy: Policy?
        /// The problems with warnings, in the order of their positions.
        package var problems: [Problem]
        /// The files that it extends.
        var bases: [String] = []

        package init(policy: Policy? = nil, problems: [Problem]) {
            self.policy = policy
            self.problems = problems
        }
    }

    package init(registry: Registry, folder: String, environment: [String: String]) {
        self.registry = registry
        members = registry.members
        var lists: [String: SettingType<[Part]>] = [:]
        for member in members {
            if case .plugins(let kind) = member.content { lists[member.name] = .list(of: .part(kind)) }
        }
        self.lists = lists
        files = PolicyFiles(folder: folder)
        self.environment = EnvironmentReader(variables: environment)
    }

    /// Makes a reader of policies in memory: texts by the name of the resource, or by `_NAME` for a text that would be
    /// in the file `_NAME.json`.
    ///
    /// - Parameter files: the folder of the files that the policies read; nil if there is none.
    /// - Throws: ``PolicyError`` when a name cannot be one.
    package init(
        registry: Registry, texts: [String: String], files: String?, environment: [String: String]
    ) throws(PolicyError) {
        self.init(registry: registry, folder: files ?? "", environment: environment)
        self = try inMemory(texts)
    }

    /// Returns a reader of these texts, by name, in place of all files of this one.
    ///
    /// - Throws: ``PolicyError`` when a name cannot be one.
    func inMemory(_ texts: [String: String]) throws(PolicyError) -> PolicyReader {
        let problems = texts.keys.sorted().filter { !Self.isName($0) && !PolicyFiles.isBase($0 + ".json") }.map {
            Problem(
                "'\($0.prefix(64))' is not a valid resource name", file: $0,
                expected: "a name such as \"feed\", or \"_base\" for what policies extend")
        }
        if !problems.isEmpty { throw PolicyError(problems) }
        var copy = self
        copy.files.texts = Dictionary(uniqueKeysWithValues: texts.map { ($0 + ".json", Array($1.utf8)) })
        copy.files.isInMemory = true
        copy.known = [:]
        return copy
    }

    /// Makes a reader of one file under any name, with another strategy if one is given.
    package init(registry: Registry, file: String, strategy: String? = nil, environment: [String: String]) {
        let (folder, name) = Disk.split(file)
        self.init(registry: registry, folder: folder, environment: environment)
        only = name
        self.strategy = strategy
    }

    /// Returns a reader that ignores the settings of the process, for trying policies in another process.
    package var withoutProcess: PolicyReader {
        var copy = self
        copy.readsProcess = false
        return copy
    }

    /// Returns a reader that leaves out policies with errors, except that of one resource.
    package func needing(_ resource: String) -> PolicyReader {
        var copy = self
        copy.needed = resource
        return copy
    }

    /// Returns a reader of the same policies in memory that are read now, and not again for each pantry. Every pantry
    /// still makes parts of its own.
    ///
    /// - Throws: ``PolicyError`` with all problems of the policies.
    package func readAhead() throws(PolicyError) -> PolicyReader {
        guard files.isInMemory else { return self }
        let names = try names()
        var (copy, bases) = (self, ExtendedFiles())
        let results = check(names, over: &bases)
        copy.known = Dictionary(uniqueKeysWithValues: zip(names, results))
        let problems = results.filter { $0.policy == nil }.flatMap(\.problems)
        if !problems.isEmpty { throw PolicyError(problems) }
        return copy
    }

    /// Returns a reader of earlier texts of the same files. Files that the policies read, such as a fallback's, are
    /// still read from the folder.
    func reading(_ texts: [String: [UInt8]]) -> PolicyReader {
        var copy = self
        copy.files.texts = texts
        copy.known = [:]
        return copy
    }

    /// Reads the policies of the folder, in the order of their names.
    ///
    /// - Throws: ``PolicyError`` with all problems of all files.
    package func readAll() throws(PolicyError) -> [Policy] {
        let results = try checkAll()
        let problems = results.filter { $0.policy == nil }.flatMap(\.problems)
        if !problems.isEmpty { throw PolicyError(problems) }
        return results.compactMap(\.policy)
    }

    /// Reads the policies of the folder. If only one is needed, leaves out others that have errors, and returns the problems
    /// of those.
    ///
    /// - Throws: ``PolicyError`` with all problems of the files that are needed.
    package func readSound() throws(PolicyError) -> (policies: [Policy], problems: [Problem]) {
        guard let needed, try names().contains(needed + ".json") else { return (try readAll(), []) }
        let results = try checkAll()
        let problems = results.filter { $0.policy == nil }.flatMap(\.problems)
        let policies = results.compactMap(\.policy)
        if !policies.contains(where: { $0.resource == needed }) { throw PolicyError(check(needed + ".json").problems) }
        return (policies, problems)
    }

    /// Returns the names of the folder's policy files, in order.
    ///
    /// - Throws: ``PolicyError`` if the folder cannot be read.
    package func names() throws(PolicyError) -> [String] {
        if let only { return [only] }
        do { return try files.stamps().map(\.name).sorted() } catch { throw PolicyError([error]) }
    }

    /// Reads the folder's `_larder.json`. Returns default settings if there is no such file.
    ///
    /// - Throws: ``PolicyError`` with all problems of the file.
    package func process() throws(PolicyError) -> ProcessSettings {
        try readProcess().settings
    }

    /// Reads the same settings, and returns them with the bytes of the file if there is one.
    func readProcess() throws(PolicyError) -> (settings: ProcessSettings, bytes: [UInt8]?) {
        let result = checkProcess()
        if let settings = result.settings { return (settings, result.bytes) }
        throw PolicyError(result.problems)
    }

    /// Checks the folder's `_larder.json`.
    package func checkProcess() -> (settings: ProcessSettings?, problems: [Problem], bytes: [UInt8]?) {
        guard readsProcess, only == nil, files.has(ProcessSettings.file) else { return (ProcessSettings(), [], nil) }
        let reading = PartReader(
            registry: registry, folder: files.folder, file: files.path(of: ProcessSettings.file))
        do {
            let root = try files.root(of: ProcessSettings.file)
            let settings = ProcessSettings.read(environment.fill(root, reading), reading)
            return (
                reading.isSound ? settings : nil, reading.problems.sorted(by: Problem.standsBefore),
                root.position.source.bytes
            )
        } catch {
            return (nil, [error], nil)
        }
    }

    /// Whether a resource can have this name. Its policy file has the same name.
    package static func isName(_ name: String) -> Bool {
        PolicyFiles.isPolicy(name + ".json") && !name.isEmpty && !name.contains("/")
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// Checks each policy file of the folder.
    ///
    /// - Throws: ``PolicyError`` if the folder cannot be read or has no policy.
    package func checkAll() throws(PolicyError) -> [CheckResult] {
        let names = try names()
        if names.isEmpty { throw none }
        var bases = ExtendedFiles()
        var results = check(names, over: &bases)
        var seen: Set<String> = []
        for (place, name) in names.enumerated() where !seen.insert(name.lowercased()).inserted {
            results[place].problems.append(
                Problem(
                    "another policy has this name in other case; not every file system tells the two apart", .warning,
                    file: files.path(of: name), expected: "a name of its own"))
        }
        return results
    }

    /// Checks the files of these names, on several threads if there are many. Files that they extend are read at most once
    /// into `bases`.
    func check(_ names: [String], over bases: inout ExtendedFiles) -> [CheckResult] {
        let shared = BlockingLock(bases)
        let results = ParallelMap.results(for: names.count, inRangesOf: 200) { range in
            let prepared = CheckedSettingsPool()
            return names[range].map { check($0, over: shared, preparing: prepared) }
        }
        bases = shared.withLock { $0 }
        return results
    }

    /// The error of a folder without policies.
    var none: PolicyError {
        PolicyError([
            files.isInMemory
                ? Problem(
                    "there are none", file: "policies", expected: "the text of a policy under its resource's name")
                : Problem(
                    "there are no policies in this folder", file: files.folder, expected: "a file such as feed.json")
        ])
    }

    /// Checks the file called `name`.
    package func check(_ name: String) -> CheckResult {
        check(name, over: BlockingLock(ExtendedFiles()), preparing: CheckedSettingsPool())
    }

    /// Checks the file called `name`. Parts that are written like one in `prepared` share its settings.
    private func check(
        _ name: String, over bases: BlockingLock<ExtendedFiles>, preparing prepared: CheckedSettingsPool
    ) -> CheckResult {
        if let result = known[name] { return result }
        let reading = PartReader(
            registry: registry, folder: files.folder, file: files.path(of: name), prepared: prepared)
        do {
            let read = try files.tree(name, over: bases)
            let tree = read.root
            let own =
                only == nil ? nil : tree[PolicyMember.resource.name]?.string.flatMap { Self.isName($0) ? $0 : nil }
            let policy = policy(
                from:
                    strategy.map(tree.swapping) ?? tree, named: own ?? String(name.dropLast(".json".count)), reading)
            let problems = reading.problems.sorted(by: Problem.standsBefore)
            var result = CheckResult(policy: reading.isSound ? policy?.warned(of: problems) : nil, problems: problems)
            result.bases = read.bases
            return result
        } catch {
            return CheckResult(policy: nil, problems: [error])
        }
    }

    private func policy(from root: Node, named name: String, _ reading: PolicyDiagnostics) -> Policy? {
        checkKeys(of: root, reading)
        let about = text(.about, of: root, reading)
        _ = text(.schema, of: root, reading)
        checkName(name, root: root, reading: reading)
        var parts: [String: [Part]] = [:]
        var filled = root
        for member in members where member.kind != nil {
            guard let node = root[member.name] else { continue }
            reading.inside("." + member.name) {
                let node = environment.fill(node, reading)
                if node.isFilled { filled = filled.replacing(member.name, with: node) }
                parts[member.name] = self.parts(member, node: node, reading: reading)
            }
        }
        let sections = members.filter { $0.kind == .section && root[$0.name] != nil }
        let read = sections.flatMap { parts[$0.name] ?? [] }
        reading.checkAnswers(of: read, in: root)
        let answering = read.first { $0.sectionTraits.answersLoads || $0.plugin.isAssumed }
        guard let answerer = parts[PolicyMember.strategy.name]?.first ?? answering else {
            // A section with errors may be one that answers loads.
            let isMissing = root[PolicyMember.strategy.name] == nil && read.count == sections.count
            if isMissing { missing(.strategy, root: root, reading: reading) }
            return nil
        }
        // The parts of a section say themselves what they need.
        if root[PolicyMember.origin.name] == nil, answerer.plugin.kind == .strategy,
            answerer.plugin.needs.contains(.origin)
        {
            missing(.origin, root: root, reading: reading)
        }
        let log = PolicyMember.log.name
        let share = root[log].map { node in reading.inside("." + log) { SettingType.logShare.read(node, reading) } }
        var policy = Policy(
            resource: name, about: about, file: reading.file, tree: filled, answerer: answerer, parts: parts,
            members: members)
        if let share { policy.logShare = share ?? 1 }
        if reading.isSound { LintRule.check(policy, reading) }
        return policy
    }

    private func checkKeys(of root: Node, _ reading: PolicyDiagnostics) {
        for member in root.members ?? [] where !members.contains(where: { $0.name == member.name }) {
            if !reading.isFull { reading.reportUnknownKey(member) }
        }
    }

    private func checkName(_ name: String, root: Node, reading: PolicyDiagnostics) {
        guard let node = root[PolicyMember.resource.name] else {
            reading.report(
                "the policy does not name its resource", at: root.position, expected: "\"resource\": \"\(name)\"")
            return
        }
        reading.inside("." + PolicyMember.resource.name) {
            if node.string == nil {
                reading.reject(node, expected: "\"\(name)\"")
            } else if node.string != name {
                reading.report(
                    "the resource does not have the same name as its file", at: node.position, expected: "\"\(name)\"")
            }
        }
    }

    private func text(_ member: PolicyMember, of root: Node, _ reading: PolicyDiagnostics) -> String? {
        guard let node = root[member.name] else { return nil }
        return reading.inside("." + member.name) { Self.text.read(node, reading) }
    }

    private func missing(_ member: PolicyMember, root: Node, reading: PolicyDiagnostics) {
        let names = member.kind.map { reading.registry[$0] }?.map { "'\($0.name)'" } ?? []
        let sections = member.kind == .strategy ? reading.registry.answeringSections : []
        reading.report(
            "the policy has no \(member.name)", at: root.position,
            expected: names.isEmpty
                ? nil
                : "\"\(member.name)\": one of \(names.joined(separator: ", "))"
                    + sections.map { " or the section '\($0.name)'" }.joined())
    }

    private func parts(_ member: PolicyMember, node: Node, reading: PolicyDiagnostics) -> [Part] {
        switch member.content {
        case .plugin(let kind): Part(kind, node: node, reading: reading).map { [$0] } ?? []
        case .plugins(let kind): (lists[member.name] ?? .list(of: .part(kind))).read(node, reading) ?? []
        case .section(let plugin): Part(section: plugin, node, reading).map { [$0] } ?? []
        case .value: []
        }
    }
}

extension Problem {
    /// Whether one problem is before the other in the order of files and positions.
    package static func standsBefore(_ one: Problem, _ other: Problem) -> Bool {
        (one.file, one.position?.offset ?? -1) < (other.file, other.position?.offset ?? -1)
    }
}

extension Node {
    /// Returns the object with another value for one of its members.
    func replacing(_ name: String, with value: Node) -> Node {
        guard var members, let index = members.firstIndex(where: { $0.name == name }) else { return self }
        members[index].value = value
        return Node(.object(members), at: self.position)
    }
}

extension Node {
    /// Returns the policy with the name of another strategy. The settings of the strategy stay.
    fileprivate func swapping(_ strategy: String) -> Node {
        let key = PolicyMember.strategy.name
        guard let old = self[key] else { return self }
        let name = Node(.string(strategy), at: old["use"]?.position ?? old.position)
        return replacing(key, with: old.members == nil ? name : old.replacing("use", with: name))
    }
}
