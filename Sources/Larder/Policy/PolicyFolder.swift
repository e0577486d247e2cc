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
        /// As it was read last and found sound.
        var source: SourceText?
        var bases: [String] = []
        var resource: String?
    }

    let reader: PolicyReader
    private var files: [String: File] = [:]
    /// Those whose present state is not in effect.
    private var waiting: Set<String> = []
    /// Those that may change without anything happening in the folder.
    private var linked: Set<String> = []
    /// Whether the folder could not be listed when it was looked at last.
    private(set) var isLost = false
    private var bases = Bases()
    private var gone: Set<String> = []
    private(set) var process: (settings: ProcessSettings, bytes: [UInt8]?) = (ProcessSettings(), nil)
    /// When files were missed first that may come back at once, as they do when they are deleted and copied.
    private var missing: [String: Duration] = [:]
    private static let patience = Duration.seconds(1)

    /// When to look again for files that are missing; nil if none is.
    var doubtEnds: Duration? { missing.values.min().map { $0 + Self.patience } }

    /// What the files say that are in effect.
    var texts: [String: [UInt8]] {
        var texts = files.compactMapValues(\.source?.bytes)
        for name in Set(files.values.flatMap(\.bases)) { texts[name] = bases.bytes(of: name) }
        texts[ProcessSettings.file] = process.bytes
        return texts
    }

    init(_ reader: PolicyReader) {
        self.reader = reader
    }

    /// What has changed since everything was in effect; `change` tells where something may have since the last look.
    ///
    /// - Parameter uptime: the present, if a file that is missing is not believed to be gone before it has been for a
    ///   second.
    /// - Throws: ``PolicyError`` with every problem of every file that is not in effect.
    mutating func look(at change: FolderChange = .anything, patientAt uptime: Duration? = nil) throws(PolicyError)
        -> News
    {
        let now = Disk.now
        for (name, stamp) in try found(change, uptime) {
            missing[name] = nil
            notice(name, stamp, now)
        }
        let doubted = bases.names.filter { isDoubted($0, uptime) }
        let changed = bases.forgetChanged(in: reader.files, except: Set(doubted))
        if !changed.isEmpty {
            for (name, file) in files where !changed.isDisjoint(with: file.bases) { waiting.insert(name) }
        }
        if files.isEmpty { throw reader.none }
        let policies = try read(now)
        return News(policies: policies, gone: gone)
    }

    /// What belongs to the process.
    ///
    /// - Parameter uptime: the present, if the file is not believed to be gone before it has been for a second.
    /// - Throws: ``PolicyError`` with everything that is wrong with it.
    mutating func settings(patientAt uptime: Duration? = nil) throws(PolicyError) -> ProcessSettings {
        if process.bytes == nil || !isDoubted(ProcessSettings.file, uptime) { process = try reader.readProcess() }
        return process.settings
    }

    /// Takes note that everything that was read is in effect.
    mutating func tookEffect() {
        waiting = []
        gone = []
    }

    /// Takes note that policies of these resources are in effect which were not read from here.
    mutating func standsIn(_ resources: [String]) {
        gone.formUnion(resources)
    }

    /// What may have changed, with stamps. What is gone is forgotten.
    private mutating func found(
        _ change: FolderChange, _ uptime: Duration?
    ) throws(PolicyError) -> [(name: String, stamp: FileStamp?)] {
        let disk = reader.files
        if let only = reader.only { return [(only, disk.stamp(of: only))] }
        if case .files(var names) = change, !isLost, linked.isEmpty, !bases.areLinked, disk.isThere {
            names.formUnion(missing.keys.filter { files[$0] != nil })
            let there = names.filter(disk.has)
            for name in names.subtracting(there) { miss(name, uptime) }
            let stamps = there.filter(PolicyFiles.isPolicy).map { ($0, disk.stamp(of: $0)) }
            for (name, stamp) in stamps where stamp?.isFolder == true { forget(name) }
            return stamps.filter { $0.1?.isFolder != true }
        }
        do throws(Problem) {
            let found = try disk.stamps { files[$0] != nil }
            if found.count(where: { files[$0.name] != nil }) < files.count {
                for name in Set(files.keys).subtracting(found.map(\.name)) { miss(name, uptime) }
            }
            isLost = false
            return found
        } catch {
            isLost = true
            // None is missing while all are: when the folder is back, files may come one by one.
            missing = [:]
            throw PolicyError([error])
        }
    }

    /// Forgets a file that is not there, unless it may come back at once.
    private mutating func miss(_ name: String, _ uptime: Duration?) {
        if files[name] != nil, !isDoubted(name, uptime) { forget(name) }
    }

    /// Whether a file is missing that may come back at once.
    private mutating func isDoubted(_ name: String, _ uptime: Duration?) -> Bool {
        guard let uptime, !reader.files.has(name) else {
            missing[name] = nil
            return false
        }
        let since = missing[name] ?? uptime
        let isDoubted = uptime - since < Self.patience
        missing[name] = isDoubted ? since : nil
        return isDoubted
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
        for name in waiting.sorted() where missing[name] == nil {
            let verdict = reader.judge(name, over: &bases)
            guard let policy = verdict.policy else {
                problems += verdict.problems
                continue
            }
            var file = files[name, default: File()]
            file.text = file.stamp?.isSettled(at: now) == true ? nil : policy.tree.place.source
            file.source = policy.tree.place.source
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
