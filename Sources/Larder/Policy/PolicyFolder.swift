/// A folder of policies as it was when it was looked at last: what has not changed since is not read again.
struct PolicyFolder {
    /// What has been read and is not in effect yet.
    struct News {
        /// The policies that may say something else than those in effect, in the order of their files' names.
        var policies: [Policy] = []
        /// The resources that have none any more.
        var gone: Set<String>
    }

    private struct File {
        /// As it was found before it was read.
        var stamp: FileStamp?
        /// What was read, while the stamp alone does not tell whether it still stands there.
        var text: SourceText?
        var bases: [String] = []
        var resource: String?
    }

    let reader: PolicyReader
    private var files: [String: File] = [:]
    /// Those whose present state is not in effect.
    private var waiting: Set<String> = []
    /// Those that may change without anything happening in the folder.
    private var linked: Set<String> = []
    /// Whether a change was told that nobody could look at.
    private var wasLost = false
    private var bases = Bases()
    private var gone: Set<String> = []

    init(_ reader: PolicyReader) {
        self.reader = reader
    }

    /// What has changed since everything was in effect; `change` tells where something may have since the last look.
    ///
    /// - Throws: ``PolicyError`` with every problem of every file that is not in effect.
    mutating func look(at change: FolderChange = .anything) throws(PolicyError) -> News {
        let now = Disk.now
        for (name, stamp) in try found(change) { notice(name, stamp, now) }
        let changed = bases.forgetChanged(in: reader.files)
        if !changed.isEmpty {
            for (name, file) in files where !changed.isDisjoint(with: file.bases) { waiting.insert(name) }
        }
        if files.isEmpty { throw reader.none }
        let policies = try read(now)
        return News(policies: policies, gone: gone)
    }

    /// Takes note that everything that was read is in effect.
    mutating func tookEffect() {
        waiting = []
        gone = []
    }

    /// What may have changed, with stamps. What is gone is forgotten.
    private mutating func found(_ change: FolderChange) throws(PolicyError) -> [(name: String, stamp: FileStamp?)] {
        let disk = reader.files
        if let only = reader.only { return [(only, disk.stamp(of: only))] }
        if case .files(let names) = change, !wasLost, linked.isEmpty, !bases.areLinked {
            let there = names.filter(disk.has)
            for name in names.subtracting(there) { forget(name) }
            let stamps = there.filter(PolicyFiles.isPolicy).map { ($0, disk.stamp(of: $0)) }
            for (name, stamp) in stamps where stamp?.isFolder == true { forget(name) }
            return stamps.filter { $0.1?.isFolder != true }
        }
        do throws(Problem) {
            let found = try disk.stamps { files[$0] != nil }
            if found.count(where: { files[$0.name] != nil }) < files.count {
                for name in Set(files.keys).subtracting(found.map(\.name)) { forget(name) }
            }
            wasLost = false
            return found
        } catch {
            wasLost = true
            throw PolicyError([error])
        }
    }

    private mutating func forget(_ name: String) {
        if let resource = files.removeValue(forKey: name)?.resource { gone.insert(resource) }
        waiting.remove(name)
        linked.remove(name)
    }

    /// Lets a file wait that may say something else than when it was read.
    private mutating func notice(_ name: String, _ stamp: FileStamp?, _ now: Timestamp) {
        if let stamp, let file = files[name], stamp == file.stamp {
            guard let text = file.text else { return }
            if reader.files.bytes(of: name) == text.bytes {
                if stamp.isSettled(at: now) { files[name]?.text = nil }
                return
            }
        }
        files[name, default: File()].stamp = stamp
        waiting.insert(name)
        if stamp?.isLinked == false { linked.remove(name) } else { linked.insert(name) }
    }

    /// Reads what waits.
    private mutating func read(_ now: Timestamp) throws(PolicyError) -> [Policy] {
        var policies: [Policy] = []
        var problems: [Problem] = []
        policies.reserveCapacity(waiting.count)
        for name in waiting.sorted() {
            let verdict = reader.judge(name, over: &bases)
            guard let policy = verdict.policy else {
                problems += verdict.problems
                continue
            }
            var file = files[name, default: File()]
            file.text = file.stamp?.isSettled(at: now) == true ? nil : policy.tree.place.source
            file.bases = verdict.bases
            if let former = file.resource, former != policy.resource { gone.insert(former) }
            file.resource = policy.resource
            files[name] = file
            gone.remove(policy.resource)
            policies.append(policy)
        }
        if !problems.isEmpty { throw PolicyError(problems) }
        return policies
    }
}
