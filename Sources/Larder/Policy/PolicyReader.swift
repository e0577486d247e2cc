/// Turns policy files into policies, or into everything that is wrong with them.
struct PolicyReader {
    let registry: Registry
    let folder: String

    /// The policies of a folder, in the order of their names.
    ///
    /// - Throws: ``PolicyError`` with every problem of every file.
    func readAll() throws(PolicyError) -> [Policy] {
        let names: [String]
        do {
            names = try Disk.list(folder).filter { Self.isPolicy($0.name) && !$0.isFolder }.map(\.name).sorted()
        } catch {
            throw PolicyError([Problem("the folder of policies cannot be read: \(error)", file: folder)])
        }
        if names.isEmpty {
            throw PolicyError([Problem("there are no policies in this folder", file: folder, expected: "a file such as feed.json")])
        }
        var policies: [Policy] = []
        var problems: [Problem] = []
        for name in names {
            do { policies.append(try read(name)) } catch { problems += error.problems }
        }
        if !problems.isEmpty { throw PolicyError(problems) }
        return policies
    }

    /// The policy in the file called `name`.
    func read(_ name: String) throws(PolicyError) -> Policy {
        let path = folder + "/" + name
        let reading = Reading(registry: registry, folder: folder, file: path)
        let root: Node
        do {
            root = try JSONParser.parse(SourceText(name: path, bytes: try Disk.read(path, limit: JSONParser.mostBytes)))
        } catch let failure as Disk.Failure {
            let isLarge = failure.code == Disk.tooLarge
            throw PolicyError([
                Problem(isLarge ? "the file is larger than \(JSONParser.mostBytes / 1_000_000) MB" : failure.description, file: path)
            ])
        } catch let problem as Problem {
            throw PolicyError([problem])
        } catch {
            throw PolicyError([Problem("the file cannot be read", file: path)])
        }
        let policy = check(root, named: String(name.dropLast(".json".count)), reading)
        guard let policy, reading.isSound else {
            throw PolicyError(reading.problems.sorted { ($0.place?.offset ?? 0) < ($1.place?.offset ?? 0) })
        }
        return policy
    }

    private static func isPolicy(_ name: String) -> Bool {
        name.hasSuffix(".json") && !name.hasSuffix(".schema.json") && !name.hasPrefix("_") && !name.hasPrefix(".")
    }

    private func check(_ root: Node, named name: String, _ reading: Reading) -> Policy? {
        guard let members = root.members else {
            reading.reject(root, expected: "a JSON object")
            return nil
        }
        let known = PolicySlot.words + PolicySlot.all.map(\.name)
        for member in members where !known.contains(member.name) {
            reading.report(
                "unknown key '\(member.name.prefix(64))'", at: member.place,
                expected: "one of " + known.map { "'\($0)'" }.joined(separator: ", "),
                suggestion: nearest(to: member.name, among: known))
        }
        _ = text("$schema", of: root, reading)
        let about = text("about", of: root, reading)
        checkName(name, root, reading)
        var parts: [String: [Part]] = [:]
        for slot in PolicySlot.all { parts[slot.name] = self.parts(slot, root, reading) }
        guard let strategy = parts["strategy"]?.first else {
            if root["strategy"] == nil { missing(.strategy, root, reading) }
            return nil
        }
        let origin = parts["origin"]?.first
        if root["origin"] == nil, strategy.plugin.needs.contains(.origin) { missing(.origin, root, reading) }
        warnOfUnused(strategy, root, reading)
        return Policy(
            resource: name, about: about, file: reading.file, origin: origin, around: parts["around"] ?? [],
            strategy: strategy, validators: parts["validators"] ?? [], store: parts["store"]?.first,
            fallbacks: parts["fallbacks"] ?? [], revision: Self.revision(of: root), warnings: reading.problems)
    }

    private func checkName(_ name: String, _ root: Node, _ reading: Reading) {
        guard let node = root["resource"] else {
            reading.report("the policy does not name its resource", at: root.place, expected: "\"resource\": \"\(name)\"")
            return
        }
        if node.string != name {
            reading.inside(".resource") {
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

    private func parts(_ slot: PolicySlot, _ root: Node, _ reading: Reading) -> [Part] {
        guard let node = root[slot.name] else { return [] }
        return reading.inside(".\(slot.name)") {
            guard slot.isList else { return Part(slot.kind, node, reading).map { [$0] } ?? [] }
            return SettingType.list(of: .part(slot.kind)).read(node, reading) ?? []
        }
    }

    /// After an emergency swap, what the new strategy does not use may be left standing.
    private func warnOfUnused(_ strategy: Part, _ root: Node, _ reading: Reading) {
        let needs = strategy.plugin.needs
        let unused =
            (needs.contains(.origin) ? [] : ["origin", "around"]) + (needs.contains(.store) ? [] : ["store"])
        for name in unused {
            guard let node = root[name] else { continue }
            reading.inside(".\(name)") {
                reading.report(
                    "'\(name)' has no effect: strategy '\(strategy.plugin.name)' does not use it", .warning,
                    at: node.place, rule: "no-effect")
            }
        }
    }

    private static func revision(of root: Node) -> String {
        String(SHA256.hex(root.json.sorted.text(indented: false).utf8).prefix(12))
    }
}

extension JSON {
    /// The same value, the members of its objects in the order of their names.
    var sorted: JSON {
        switch self {
        case .object(let members):
            .object(members.map { Member($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
        case .list(let items): .list(items.map(\.sorted))
        default: self
        }
    }
}
