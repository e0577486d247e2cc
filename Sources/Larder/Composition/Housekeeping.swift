/// What a pantry does besides answering, as `_larder.json` says: writes dumps, and the log of decisions.
final class Housekeeping: Sendable {
    let settings: ProcessSettings
    private let world: any World
    private let folder: String
    private let hearing: Hearing
    private let dump: @Sendable () async -> MetricsDump?
    private let log: LineFile?
    private let listening: Int?
    private let moments: AsyncStream<Void>.Continuation
    private let work = Locked<[Task<Void, Never>]>([])
    private let isOpen = Locked(true)

    /// Whether nothing is written any more.
    var isClosed: Bool { !isOpen.withLock { $0 } }

    /// - Throws: ``PolicyError`` when a file that is named cannot be had.
    init(
        _ settings: ProcessSettings, in folder: String, hearing: Hearing, world: any World,
        dump: @escaping @Sendable () async -> MetricsDump?
    ) throws(PolicyError) {
        self.settings = settings
        self.folder = folder
        self.hearing = hearing
        self.world = world
        self.dump = dump
        do {
            if settings != ProcessSettings() { try Disk.makeFolder(folder) }
            let log = try settings.log.map { log throws(Disk.Failure) in
                try LineFile(folder + "/" + log.file, most: log.most, world: world)
            }
            self.log = log
            listening = log.map { log in hearing.decisions.add { log.append($0.json.text(indented: false)) } }
        } catch {
            throw PolicyError([Problem("the files it names cannot be written: \(error)", file: ProcessSettings.file)])
        }
        let (stream, moments) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.moments = moments
        if let metrics = settings.metrics { work.withLock { $0 = start(metrics, stream) } }
    }

    deinit {
        if let listening { hearing.decisions.remove(listening) }
        for task in work.withLock({ $0 }) { task.cancel() }
    }

    /// One task writes, the others tell it when.
    private func start(_ metrics: ProcessSettings.Metrics, _ moments: AsyncStream<Void>) -> [Task<Void, Never>] {
        let tell = self.moments
        let writer = world.spawn { [weak self] in
            for await _ in moments { await self?.write() }
        }
        let clock = world.spawn { [world] in
            while (try? await world.sleep(for: metrics.every)) != nil { tell.yield() }
        }
        guard let name = metrics.signal else { return [writer, clock] }
        let signals = world.signals(name)
        return [writer, clock, world.spawn { for await _ in signals { tell.yield() } }]
    }

    /// Writes the last dump, and what the log has not written yet. Nothing is written afterwards.
    func close() async {
        let isFirst = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard isFirst else { return }
        moments.finish()
        let tasks = work.withLock { work in
            defer { work = [] }
            return work
        }
        for task in tasks.dropFirst() { task.cancel() }
        await tasks.first?.value
        if settings.metrics != nil { await write() }
        if let listening { hearing.decisions.remove(listening) }
        await log?.flush()
    }

    private func write() async {
        guard let metrics = settings.metrics, let dump = await dump() else { return }
        hearing.dumps.send(dump)
        do {
            try await world.blocking { [folder] in try Self.write(dump, metrics, in: folder) }
        } catch {
            let reason = (error as? Disk.Failure)?.description ?? LoadError.name(of: error)
            hearing.decisions.send(
                Decision(at: world.now, resource: nil, revision: nil, kind: .unwritten, note: reason))
        }
    }

    /// Sets the former dump aside and puts the new one in its place; whoever reads meanwhile finds a whole one.
    private static func write(
        _ dump: MetricsDump, _ metrics: ProcessSettings.Metrics, in folder: String
    ) throws(Disk.Failure) {
        let text = Array(dump.json.text(indented: false).utf8)
        let path = folder + "/" + metrics.file
        if metrics.keep > 0, Disk.item(path) != nil {
            for number in stride(from: metrics.keep - 1, through: 1, by: -1) {
                try? Disk.move(folder + "/" + metrics.older(number), to: folder + "/" + metrics.older(number + 1))
            }
            // Where a file cannot bear two names, the former dump goes.
            try? Disk.copy(path, to: folder + "/" + metrics.older(1))
        }
        try Disk.replace(path, with: [text], isPrivate: false)
        if let name = metrics.prometheus {
            try Disk.replace(folder + "/" + name, with: [Array(dump.prometheus.utf8)], isPrivate: false)
        }
    }
}
