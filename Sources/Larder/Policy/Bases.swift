/// The files that others extend, each read once however many do.
struct Bases {
    private struct Base {
        var stamp: FileStamp?
        var isSettled: Bool
        var root: Node
    }

    private var known: [String: Base] = [:]

    /// What stands in a file. `place` is where it is named.
    ///
    /// - Throws: ``Problem``.
    mutating func root(of name: String, named place: Node, in files: PolicyFiles) throws(Problem) -> Node {
        if let base = known[name] { return base.root }
        let (now, stamp) = (Disk.now, files.stamp(of: name))
        let root = try files.root(of: name, named: place)
        known[name] = Base(stamp: stamp, isSettled: stamp?.isSettled(at: now) == true, root: root)
        return root
    }

    /// Whether one of them is reached by a link.
    var areLinked: Bool { known.values.contains { $0.stamp?.isLinked != false } }

    /// Their names.
    var names: [String] { Array(known.keys) }

    /// The bytes of one of them, as they were read.
    func bytes(of name: String) -> [UInt8]? { known[name]?.root.place.source.bytes }

    /// Forgets those that are not what they were, but for some that are not there.
    ///
    /// - Returns: their names.
    mutating func forgetChanged(in files: PolicyFiles, except doubted: Set<String> = []) -> Set<String> {
        var changed: Set<String> = []
        for (name, base) in known where !doubted.contains(name) {
            let (now, stamp) = (Disk.now, files.stamp(of: name))
            if let stamp, stamp == base.stamp, base.isSettled { continue }
            if let stamp, files.bytes(of: name) == base.root.place.source.bytes {
                known[name]?.stamp = stamp
                known[name]?.isSettled = stamp.isSettled(at: now)
            } else {
                known[name] = nil
                changed.insert(name)
            }
        }
        return changed
    }
}
