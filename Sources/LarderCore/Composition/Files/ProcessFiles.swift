import LarderSystem

/// The names of the files that this process writes to a cache folder, which several processes may share.
///
/// The first process uses the names in `_larder.json`. Each further one adds random digits to them, such as
/// `metrics-3f2a91c0d4e5b6a7.json`. A locked file in the folder `.processes` shows that a process is running.
final class ProcessFiles: Sendable {
    /// The folder of the locked files. No resource's folder can have this name.
    static let folderName = ".processes"
    private static let first = "first-"
    private static let further = "further-"

    let cacheFolder: String
    private let folder: String
    private let holder = Locked<Disk.HeldFile?>(nil)

    init(in cacheFolder: String) {
        self.cacheFolder = cacheFolder
        folder = cacheFolder + "/" + Self.folderName
    }

    /// The digits in the names of this process's files; nil if it is the first process.
    var mark: String? { holder.withLock { $0 }.flatMap { Self.mark(of: $0.name) } }

    /// Takes names for this process, if it has none yet. Blocks.
    ///
    /// Where files cannot be locked, each process counts as the first.
    func take() {
        if holder.withLock({ $0 }) != nil { return }
        let taken = try? locked { [folder] in
            let others = try Disk.list(folder).map(\.name).filter { $0.hasPrefix(Self.first) }
            let running = others.filter { Disk.isHeld(folder + "/" + $0) }
            for name in others where !running.contains(name) { try Disk.remove(folder + "/" + name) }
            return try Disk.HeldFile(in: folder, prefix: running.isEmpty ? Self.first : Self.further)
        }
        if let taken { holder.withLock { $0 = $0 ?? taken } }
    }

    /// Makes the locked file again if another program has deleted it. Blocks.
    func restore() {
        guard let held = holder.withLock({ $0 }), !held.isInPlace,
            let anew = try? locked({ [folder] in try Disk.HeldFile(in: folder, named: held.name) })
        else { return }
        holder.withLock { $0 = anew }
    }

    /// Gives the names back, because this process writes no more.
    func release() { holder.withLock { $0 = nil } }

    /// Removes files of other processes that have ended: dumps and logs except the newest `keep` of each, and text files
    /// for collectors, which would go on to report them. Blocks.
    func removeFilesOfEnded(_ settings: ProcessSettings) {
        guard let items = try? Disk.list(folder), items.contains(where: { $0.name.hasPrefix(Self.further) }) else {
            return
        }
        _ = try? locked { [folder, cacheFolder] in
            let marks = try Disk.list(folder).map(\.name).compactMap(Self.mark)
            let ended = Set(marks.filter { !Disk.isHeld(folder + "/" + Self.further + $0) })
            if ended.isEmpty { return }
            let files = MarkedFiles(try Disk.list(cacheFolder), of: settings, marks: ended)
            for name in files.outdated { try Disk.remove(cacheFolder + "/" + name) }
            for mark in ended.subtracting(files.keptMarks) { try Disk.remove(folder + "/" + Self.further + mark) }
        }
    }

    /// Runs `body` while no other process takes names or removes files.
    private func locked<Result>(_ body: () throws -> Result) throws -> Result {
        try Disk.makeFolder(folder)
        return try Disk.locked(folder + "/lock", body)
    }

    private static func mark(of name: String) -> String? {
        name.hasPrefix(further) ? String(name.dropFirst(further.count)) : nil
    }
}

/// The files of processes that have ended.
private struct MarkedFiles {
    /// The names of the files to remove.
    private(set) var outdated: [String] = []
    /// The marks in the names of the files that stay.
    private(set) var keptMarks: Set<String> = []

    init(_ items: [Disk.Item], of settings: ProcessSettings, marks: Set<String>) {
        let keep = settings.metrics?.keep ?? ProcessSettings.Metrics.usualKeep
        func sort(_ name: String?, keeping count: Int) {
            guard let name else { return }
            let own = items.compactMap { item in
                ProcessSettings.mark(of: item.name, from: name).map { (item, $0) }
            }.filter { marks.contains($0.1) }
            let newestFirst = own.sorted { ($0.0.modified, $0.0.name) > ($1.0.modified, $1.0.name) }
            outdated += newestFirst.dropFirst(count).map(\.0.name)
            keptMarks.formUnion(newestFirst.prefix(count).map(\.1))
        }
        sort(settings.metrics?.file, keeping: keep)
        sort(settings.log?.file, keeping: keep)
        sort(settings.metrics?.prometheus, keeping: 0)
    }
}
