import LarderSystem

/// Reads the files of a folder of policies into trees, and merges each with the files that it extends.
package struct PolicyFiles: Sendable {
    let folder: String
    /// Filters file stamps. A test uses it to imitate a file system with a coarser clock.
    var seen: @Sendable (FileStamp) -> FileStamp = { $0 }
    /// The texts of the files, by name, if they are not read from the folder.
    var texts: [String: [UInt8]]?
    /// Whether the policies are in memory and were never files. Messages then show the name alone.
    var isInMemory = false

    private static let longestChain = 16

    package init(folder: String) {
        self.folder = folder
    }

    /// Returns the policy files, in no order: `NAME.json`, but not `_NAME.json` or `NAME.schema.json`. Names for which
    /// `known` returns true are not checked again.
    ///
    /// - Throws: ``Problem`` if the folder cannot be read.
    func stamps(_ known: (String) -> Bool = { _ in false }) throws(Problem) -> [(name: String, stamp: FileStamp?)] {
        if let texts { return texts.keys.filter(Self.isPolicy).map { ($0, nil) } }
        do {
            return try Disk.stamps(in: folder) { known($0) || Self.isPolicy($0) }
                .compactMap { $0.stamp?.isFolder == true ? nil : ($0.name, $0.stamp.map(seen)) }
        } catch {
            throw Problem("the folder of policies cannot be read: \(error)", file: folder)
        }
    }

    /// Returns the stamp of a file; nil if the file does not exist or cannot be read, and for texts.
    func stamp(of name: String) -> FileStamp? {
        texts == nil ? Disk.stamp(of: folder + "/" + name).map(seen) : nil
    }

    /// Returns the name of the file in messages.
    func path(of name: String) -> String { isInMemory ? name : folder + "/" + name }

    /// Whether a file of that name exists, readable or not.
    func has(_ name: String) -> Bool { texts.map { $0[name] != nil } ?? Disk.isThere(folder + "/" + name) }

    /// Whether the folder exists.
    var isThere: Bool { Disk.item(folder)?.isFolder == true }

    /// Returns the bytes of a file; nil if it cannot be read.
    func bytes(of name: String) -> [UInt8]? { try? read(name) }

    private func read(_ name: String) throws(Disk.Failure) -> [UInt8] {
        guard let texts else { return try Disk.read(folder + "/" + name, limit: JSONParser.mostBytes) }
        guard let bytes = texts[name] else { throw Disk.Failure("open the file", Disk.missing) }
        guard bytes.count <= JSONParser.mostBytes else { throw Disk.Failure("read the file", Disk.tooLarge) }
        return bytes
    }

    /// Whether a file is reached through a symbolic link that leads out of the folder.
    private func leavesFolder(_ name: String) -> Bool {
        guard texts == nil, let real = Disk.realPath(folder + "/" + name), let home = Disk.realPath(folder) else {
            return false
        }
        return !real.hasPrefix(home.hasSuffix("/") ? home : home + "/")
    }

    static func isPolicy(_ name: String) -> Bool {
        name.hasSuffix(".json") && !name.hasSuffix(".schema.json") && !name.hasPrefix("_") && !name.hasPrefix(".")
    }

    /// Returns the tree of one file, merged with the files that it extends.
    ///
    /// - Throws: ``Problem`` if a file cannot be read or parsed.
    func tree(_ name: String, over bases: BlockingLock<ExtendedFiles>) throws(Problem) -> Tree {
        var tree = Tree(root: try root(of: name))
        // From the file down to the last one that extends no other, and back up.
        var chain = [tree.root]
        while let base = chain[chain.count - 1]["extends"] {
            func wrong(_ message: String) -> Problem {
                Problem(
                    message, file: base.position.source.name, at: base.position, path: "$.extends",
                    expected: "the name of a file such as \"_base.json\" in this folder")
            }
            guard let file = base.string, Self.isBase(file) else {
                throw wrong("this is not the name of a file that can be extended")
            }
            if file == name || tree.bases.contains(file) { throw wrong("'\(file.prefix(64))' extends itself") }
            guard tree.bases.count < Self.longestChain else {
                throw wrong("more than \(Self.longestChain) files extend each other")
            }
            tree.bases.append(file)
            chain.append(
                try bases.withLock { bases throws(Problem) in try bases.root(of: file, named: base, in: self) })
        }
        if chain.count > 1 {
            tree.root = chain.dropLast().reversed().reduce(chain[chain.count - 1]) { Self.merge($1, over: $0) }
        }
        return tree
    }

    /// Whether a policy can extend a file of this name.
    static func isBase(_ name: String) -> Bool {
        name.hasPrefix("_") && name.hasSuffix(".json") && !name.contains("/") && !name.contains("\0")
    }

    /// Returns the object in one file, without the files that it extends.
    ///
    /// - Parameter place: the node that names the file, if another file does.
    /// - Throws: ``Problem`` if a file cannot be read or parsed.
    package func root(of name: String, named reference: Node? = nil) throws(Problem) -> Node {
        let path = path(of: name)
        if let reference, leavesFolder(name) {
            throw Problem(
                "'\(name.prefix(64))' is a link that leaves the policy's folder", file: reference.position.source.name,
                at: reference.position, path: "$.extends", expected: "the name of a file in this folder")
        }
        do {
            let bytes = try read(name)
            let root = try JSONParser.parse(SourceText(name: path, bytes: bytes))
            guard root.members != nil else {
                throw Problem(
                    "\(root.inWords) is not allowed here", file: path, at: root.position, expected: "a JSON object")
            }
            return root
        } catch let problem as Problem {
            throw problem
        } catch let error as JSONError {
            throw Problem(error)
        } catch let failure as Disk.Failure {
            let message =
                failure.code == Disk.tooLarge
                ? "the file is larger than \(JSONParser.mostBytes / 1_000_000) MB" : failure.description
            guard let reference else { throw Problem(message, file: path) }
            var problem = Problem(
                "'\(name.prefix(64))': \(message)", file: path, at: reference.position, path: "$.extends",
                expected: "the name of a file in this folder")
            problem.extended = path
            throw problem
        } catch {
            throw Problem("the file cannot be read", file: path)
        }
    }

    /// The content of a file, merged with the files that it extends.
    struct Tree {
        var root: Node
        /// The files that it extends, the nearest first.
        var bases: [String] = []
    }

    /// Merges a policy with the one it extends. Objects are merged, but an object with another `use` replaces the whole
    /// object. Lists and plain values are replaced, and `null` removes a key. For a plugin, the bare name stands for an
    /// object with `use`.
    static func merge(_ upper: Node, over lower: Node) -> Node {
        let members = (upper.members ?? []).filter { $0.name != "extends" }
        let base = (lower.members ?? []).filter { $0.name != "extends" }
        return Node(.object(merge(members, over: base, parts: parts)), at: upper.position)
    }

    private static let parts = Set(
        PolicyMember.core.filter { if case .plugin = $0.content { true } else { false } }.map(\.name))

    private static func merge(_ upper: [Node.Member], over lower: [Node.Member], parts: Set<String>) -> [Node.Member] {
        var merged = lower
        for member in upper {
            let index = merged.firstIndex { $0.name == member.name }
            if case .null = member.value.content {
                if let index { merged.remove(at: index) }
            } else if let index {
                let isPart = parts.contains(member.name)
                merged[index].value = merge(member.value, over: merged[index].value, isPart: isPart)
                merged[index].position = member.position
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
        return Node(.object(merge(members, over: base, parts: [])), at: upper.position)
    }
}

extension Node {
    /// The bare name of a plugin as an object with `use`.
    fileprivate var reference: Node {
        guard string != nil else { return self }
        return Node(.object([Member(name: "use", position: position, value: self)]), at: position)
    }
}
