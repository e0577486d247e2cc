/// Reads the files of a folder of policies into trees: one for each file, merged with what it extends.
package struct PolicyFiles {
    let folder: String
    /// What of a stamp is seen: less than all, where a test plays a file system with a coarser clock.
    var seen: @Sendable (FileStamp) -> FileStamp = { $0 }
    /// What the files say, if they are not to be read from the folder.
    var texts: [String: [UInt8]]?

    private static let longestChain = 16

    package init(folder: String) {
        self.folder = folder
    }

    /// The files that are policies, in no order: `NAME.json`, but not `_NAME.json` nor `NAME.schema.json`. `known` are, for
    /// sure.
    ///
    /// - Throws: ``Problem`` when the folder cannot be read.
    func stamps(_ known: (String) -> Bool = { _ in false }) throws(Problem) -> [(name: String, stamp: FileStamp?)] {
        if let texts { return texts.keys.filter(Self.isPolicy).map { ($0, nil) } }
        do {
            return try Disk.stamps(in: folder) { known($0) || Self.isPolicy($0) }
                .filter { $0.stamp?.isFolder != true }.map { ($0.name, $0.stamp.map(seen)) }
        } catch {
            throw Problem("the folder of policies cannot be read: \(error)", file: folder)
        }
    }

    /// The stamp of a file; nil when it is not there or cannot be read.
    func stamp(of name: String) -> FileStamp? { Disk.stamp(of: folder + "/" + name).map(seen) }

    /// Whether there is something of that name, readable or not.
    func has(_ name: String) -> Bool { texts.map { $0[name] != nil } ?? Disk.isThere(folder + "/" + name) }

    /// Whether the folder itself is there.
    var isThere: Bool { Disk.item(folder)?.isFolder == true }

    /// The bytes of a file; nil when it cannot be read.
    func bytes(of name: String) -> [UInt8]? { try? read(name) }

    private func read(_ name: String) throws(Disk.Failure) -> [UInt8] {
        guard let texts else { return try Disk.read(folder + "/" + name, limit: JSONParser.mostBytes) }
        guard let bytes = texts[name] else { throw Disk.Failure("open the file", Disk.missing) }
        return bytes
    }

    static func isPolicy(_ name: String) -> Bool {
        name.hasSuffix(".json") && !name.hasSuffix(".schema.json") && !name.hasPrefix("_") && !name.hasPrefix(".")
    }

    /// The tree of one file, merged with what it extends.
    ///
    /// - Throws: ``Problem``: without its tree there is nothing more to say about a file.
    func tree(_ name: String, over bases: inout Bases) throws(Problem) -> Tree {
        var tree = Tree(root: try root(of: name))
        // From the file down to what nothing stands under, and back up.
        var chain = [tree.root]
        while let base = chain[chain.count - 1]["extends"] {
            func wrong(_ message: String) -> Problem {
                Problem(
                    message, file: base.place.source.name, at: base.place, path: "$.extends",
                    expected: "the name of a file such as \"_base.json\" in this folder")
            }
            guard let file = base.string, Self.isBase(file) else { throw wrong("this names no file to extend") }
            if file == name || tree.bases.contains(file) { throw wrong("'\(file.prefix(64))' extends itself") }
            guard tree.bases.count < Self.longestChain else {
                throw wrong("more than \(Self.longestChain) files extend each other")
            }
            tree.bases.append(file)
            chain.append(try bases.root(of: file, named: base, in: self))
        }
        if chain.count > 1 {
            tree.root = chain.dropLast().reversed().reduce(chain[chain.count - 1]) { Self.merge($1, over: $0) }
        }
        return tree
    }

    /// Whether a file of this name can be extended.
    static func isBase(_ name: String) -> Bool {
        name.hasPrefix("_") && name.hasSuffix(".json") && !name.contains("/") && !name.contains("\0")
    }

    /// What stands in one file, an object, and nothing else.
    ///
    /// - Parameter place: where the file is named, if another one names it.
    /// - Throws: ``Problem``: without its tree there is nothing more to say about a file.
    package func root(of name: String, named place: Node? = nil) throws(Problem) -> Node {
        let path = folder + "/" + name
        do {
            let bytes = try read(name)
            let root = try JSONParser.parse(SourceText(name: path, bytes: bytes))
            guard root.members != nil else {
                throw Problem(
                    "\(root.inWords) cannot stand here", file: path, at: root.place, expected: "a JSON object")
            }
            return root
        } catch let problem as Problem {
            throw problem
        } catch let failure as Disk.Failure {
            let message =
                failure.code == Disk.tooLarge
                ? "the file is larger than \(JSONParser.mostBytes / 1_000_000) MB" : failure.description
            guard let place else { throw Problem(message, file: path) }
            throw Problem(
                "'\(name.prefix(64))': \(message)", file: path, at: place.place, path: "$.extends",
                expected: "the name of a file in this folder")
        } catch {
            throw Problem("the file cannot be read", file: path)
        }
    }

    /// What a file says with all that it extends.
    struct Tree {
        var root: Node
        /// The files it extends, the nearest first.
        var bases: [String] = []
    }

    /// A policy over the one it extends: objects merge deep, except that another `use` replaces its object whole; lists
    /// and plain values replace whole; `null` removes. Where a plugin stands, its bare name is an object that says `use`.
    static func merge(_ upper: Node, over lower: Node) -> Node {
        let members = (upper.members ?? []).filter { $0.name != "extends" }
        let base = (lower.members ?? []).filter { $0.name != "extends" }
        return Node(.object(merge(members, over: base, parts: parts)), at: upper.place)
    }

    private static let parts = Set(PolicySlot.all.filter { !$0.isList }.map(\.name))

    private static func merge(_ upper: [Node.Member], over lower: [Node.Member], parts: Set<String>) -> [Node.Member] {
        var merged = lower
        for member in upper {
            let place = merged.firstIndex { $0.name == member.name }
            if case .null = member.value.content {
                if let place { merged.remove(at: place) }
            } else if let place {
                let isPart = parts.contains(member.name)
                merged[place].value = merge(member.value, over: merged[place].value, isPart: isPart)
                merged[place].place = member.place
            } else {
                merged.append(member)
            }
        }
        return merged
    }

    private static func merge(_ upper: Node, over lower: Node, isPart: Bool) -> Node {
        guard let members = (isPart ? upper.reference : upper).members,
            let base = (isPart ? lower.reference : lower).members
        else { return upper }
        let use = members.first { $0.name == "use" }?.value.string
        if let use, use != base.first(where: { $0.name == "use" })?.value.string { return upper }
        return Node(.object(merge(members, over: base, parts: [])), at: upper.place)
    }
}

extension Node {
    /// A plugin's bare name as an object that only says `use`.
    fileprivate var reference: Node {
        guard string != nil else { return self }
        return Node(.object([Member(name: "use", place: place, value: self)]), at: place)
    }
}
