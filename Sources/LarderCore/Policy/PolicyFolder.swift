import LarderSystem

/// The state of a folder of policies when it was last looked at. A file that has not changed since is not read again.
struct PolicyFolder {
    /// The changes that were read and are not in effect yet.
    struct Changes {
        /// The policies that may differ from those in effect, in the order of their files' names.
        var policies: [Policy] = []
        /// The resources that no longer have a policy.
        var removed: Set<String>
    }

    private struct File {
        /// The stamp of the file, taken before the file was read.
        var stamp: FileStamp?
        /// The text that was read, as long as the stamp alone does not prove that the file is unchanged.
        var text: SourceText?
        /// The text that was last read without errors.
        var source: SourceText?
        var bases: [String] = []
        var resource: String?
    }

    private(set) var reader: PolicyReader
    private var files: [String: File] = [:]
    /// The files whose present content is not in effect.
    private var pending: Set<String> = []
    /// The files that are reached through symbolic links. They may change without a change in the folder.
    private var linked: Set<String> = []
    /// Whether the folder could not be listed at the last look.
    private(set) var isUnreadable = false
    /// Whether policies that were supplied are in effect in place of those of the folder: see ``PolicySupply``.
    private(set) var isSupplied = false
    private var bases = ExtendedFiles()
    private var removed: Set<String> = []
    private(set) var process: (settings: ProcessSettings, bytes: [UInt8]?) = (ProcessSettings(), nil)
    /// The time at which each missing file was first missed. The file may come back at once, as it does when it is
    /// deleted and copied anew.
    private var missing: [String: Duration] = [:]
    private static let grace = Duration.seconds(1)

    /// The time at which to look again for missing files; nil if no file is missing.
    var nextLook: Duration? { missing.values.min().map { $0 + Self.grace } }

    /// The texts of the files that are in effect, by name.
    var texts: [String: [UInt8]] {
        var texts = files.compactMapValues(\.source?.bytes)
        for name in Set(files.values.flatMap(\.bases)) { texts[name] = bases.bytes(of: name) }
        texts[ProcessSettings.file] = process.bytes
        return texts
    }

    init(_ reader: PolicyReader) {
        self.reader = reader
    }

    /// Switches to policies in memory, in place of the present ones.
    ///
    /// - Throws: ``PolicyError`` if a text has an invalid name.
    mutating func take(_ texts: [String: String]) throws(PolicyError) {
        reader = try reader.inMemory(texts)
        bases = ExtendedFiles()
    }

    /// Returns the changes since everything was in effect. `change` names the files that may have changed since the
    /// last look.
    ///
    /// - Parameter uptime: the present time, if a missing file counts as deleted only after a second; nil if it does at
    ///   once.
    /// - Throws: ``PolicyError`` with all problems of the files that are not in effect.
    mutating func changes(after change: FolderChange = .anything, graceAt uptime: Duration? = nil) throws(PolicyError)
        -> Changes
    {
        let now = Disk.now
        for (name, stamp) in try found(change, uptime) {
            if !missing.isEmpty { missing[name] = nil }
            markIfChanged(name, stamp: stamp, now: now)
        }
        let doubted = bases.names.filter { mayComeBack($0, uptime) }
        let changed = bases.forgetChanged(in: reader.files, except: Set(doubted))
        if !changed.isEmpty {
            for (name, file) in files where !changed.isDisjoint(with: file.bases) { pending.insert(name) }
        }
        if files.isEmpty { throw reader.none }
        let policies = try read(now)
        return Changes(policies: policies, removed: removed)
    }

    /// Returns the settings of the process.
    ///
    /// - Parameter uptime: the present time, if a missing file counts as deleted only after a second; nil if it does at
    ///   once.
    /// - Throws: ``PolicyError`` with all problems of the file.
    mutating func settings(graceAt uptime: Duration? = nil) throws(PolicyError) -> ProcessSettings {
        if process.bytes == nil || !mayComeBack(ProcessSettings.file, uptime) { process = try reader.readProcess() }
        return process.settings
    }

    /// Notes that everything that was read is in effect, or other policies in its place.
    mutating func tookEffect(isSupplied: Bool) {
        pending = []
        removed = []
        self.isSupplied = isSupplied
    }

    /// Returns all policies of the folder as they were last read.
    ///
    /// - Parameter replacements: texts that stand in place of files, by name.
    func whole(replacing replacements: [String: [UInt8]] = [:]) throws(PolicyError) -> [Policy] {
        try reader.reading(texts.merging(replacements) { $1 }).readAll()
    }

    /// Notes that policies of these resources are in effect that were not read from this folder.
    mutating func markReplaced(_ resources: [String]) {
        removed.formUnion(resources)
    }

    /// Returns the files that may have changed, with their stamps. Drops deleted files.
    private mutating func found(
        _ change: FolderChange, _ uptime: Duration?
    ) throws(PolicyError) -> [(name: String, stamp: FileStamp?)] {
        let disk = reader.files
        if let only = reader.only { return [(only, disk.stamp(of: only))] }
        if case .files(var names) = change, !isUnreadable, linked.isEmpty, !bases.areLinked, disk.isThere {
            names.formUnion(missing.keys.filter { files[$0] != nil })
            let there = names.filter(disk.has)
            for name in names.subtracting(there) { noteMissing(name, uptime) }
            let stamps = there.filter(PolicyFiles.isPolicy).map { ($0, disk.stamp(of: $0)) }
            for (name, stamp) in stamps where stamp?.isFolder == true { drop(name) }
            return stamps.filter { $0.1?.isFolder != true }
        }
        do throws(Problem) {
            // Looking for a key copies no file.
            let known = files.keys
            let found = try disk.stamps { known.contains($0) }
            if found.count(where: { known.contains($0.name) }) < files.count {
                for name in Set(files.keys).subtracting(found.map(\.name)) { noteMissing(name, uptime) }
            }
            isUnreadable = false
            return found
        } catch {
            isUnreadable = true
            // No file counts as missing while all are. When the folder is back, files may return one by one.
            missing = [:]
            throw PolicyError([error])
        }
    }

    /// Drops a file that does not exist, unless it may come back at once.
    private mutating func noteMissing(_ name: String, _ uptime: Duration?) {
        if files[name] != nil, !mayComeBack(name, uptime) { drop(name) }
    }

    /// Whether a file is missing but may come back at once.
    private mutating func mayComeBack(_ name: String, _ uptime: Duration?) -> Bool {
        guard let uptime, !reader.files.has(name) else {
            missing[name] = nil
            return false
        }
        let since = missing[name] ?? uptime
        let mayComeBack = uptime - since < Self.grace
        missing[name] = mayComeBack ? since : nil
        return mayComeBack
    }

    private mutating func drop(_ name: String) {
        if let resource = files.removeValue(forKey: name)?.resource { removed.insert(resource) }
        pending.remove(name)
        linked.remove(name)
    }

    /// Marks a file for reading if it may have changed since it was read.
    private mutating func markIfChanged(_ name: String, stamp: FileStamp?, now: Int64) {
        if let stamp, let place = files.index(forKey: name), stamp == files.values[place].stamp {
            guard let text = files.values[place].text else { return }
            if reader.files.bytes(of: name) == text.bytes {
                if stamp.isReliable(at: now) { files[name]?.text = nil }
                return
            }
        }
        files[name, default: File()].stamp = stamp
        pending.insert(name)
        if stamp?.isLinked == false { linked.remove(name) } else { linked.insert(name) }
    }

    /// Reads the marked files.
    private mutating func read(_ now: Int64) throws(PolicyError) -> [Policy] {
        var policies: [Policy] = []
        var (problems, others) = ([Problem](), [Problem]())
        policies.reserveCapacity(pending.count)
        let names = pending.sorted().filter { missing[$0] == nil }
        for (name, result) in zip(names, reader.check(names, over: &bases)) {
            guard let policy = result.policy else {
                if reader.needed.map({ $0 + ".json" == name }) == false {
                    others += result.problems
                } else {
                    problems += result.problems
                }
                continue
            }
            var file = files[name, default: File()]
            file.text = file.stamp?.isReliable(at: now) == true ? nil : policy.tree.position.source
            file.source = policy.tree.position.source
            file.bases = result.bases
            if let former = file.resource, former != policy.resource { removed.insert(former) }
            file.resource = policy.resource
            files[name] = file
            removed.remove(policy.resource)
            policies.append(policy)
        }
        // Without any policy, there is nothing to name instead of the one that is needed.
        if problems.isEmpty, files.values.allSatisfy({ $0.source == nil }) { problems = others }
        if !problems.isEmpty { throw PolicyError(problems) }
        return policies
    }
}
