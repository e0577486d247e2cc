import LarderSystem

/// The files that policies extend. Each file is read once, however many policies extend it.
struct ExtendedFiles {
    private struct Base {
        var stamp: FileStamp?
        var isReliable: Bool
        var root: Node
    }

    private var known: [String: Base] = [:]

    /// Returns the content of a file. `reference` is the node that names the file.
    ///
    /// - Throws: ``Problem`` if the file cannot be read or is not a JSON object.
    mutating func root(of name: String, named reference: Node, in files: PolicyFiles) throws(Problem) -> Node {
        if let base = known[name] { return base.root }
        let (now, stamp) = (Disk.now, files.stamp(of: name))
        let root = try files.root(of: name, named: reference)
        known[name] = Base(stamp: stamp, isReliable: stamp?.isReliable(at: now) == true, root: root)
        return root
    }

    /// Whether one of the files is reached through a symbolic link.
    var areLinked: Bool { known.values.contains { $0.stamp?.isLinked != false } }

    /// The names of the files.
    var names: [String] { Array(known.keys) }

    /// The bytes of one file, as they were read.
    func bytes(of name: String) -> [UInt8]? { known[name]?.root.position.source.bytes }

    /// Drops the files that have changed. `doubted` files may be missing for a moment only, so they are not looked at.
    ///
    /// - Returns: the names of the dropped files.
    mutating func forgetChanged(in files: PolicyFiles, except doubted: Set<String> = []) -> Set<String> {
        var changed: Set<String> = []
        for (name, base) in known where !doubted.contains(name) {
            let (now, stamp) = (Disk.now, files.stamp(of: name))
            if let stamp, stamp == base.stamp, base.isReliable { continue }
            if let stamp, files.bytes(of: name) == base.root.position.source.bytes {
                known[name]?.stamp = stamp
                known[name]?.isReliable = stamp.isReliable(at: now)
            } else {
                known[name] = nil
                changed.insert(name)
            }
        }
        return changed
    }
}
