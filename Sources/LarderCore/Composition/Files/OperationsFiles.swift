import LarderSystem

/// Writes the files that `_larder.json` names: the dumps of the metrics and the log of decisions.
///
/// A file that cannot be written is reported once and tried again at each dump. When it can be written again, that is
/// reported too.
final class OperationsFiles: Sendable {
    private struct DumpState {
        var wasWritten = false
        /// Whether a missing dump was reported. Programs that collect dumps remove each one, so it is reported only
        /// once.
        var wasMissed = false
    }

    private static let dumpPart = "metrics"
    private static let logPart = "log"

    let settings: ProcessSettings
    private let world: any World
    private let files: DumpFiles?
    private let names: ProcessFiles
    private let sinks: EventSinks
    private let problems: CacheProblems
    private let tell: @Sendable (String) -> Void
    private let dump: @Sendable () async -> MetricsDump?
    private let log: LineFile?
    private let listening: Subscription?
    private let moments: AsyncStream<Void>.Continuation
    private let work = Locked<[Task<Void, Never>]>([])
    private let isOpen = Locked(true)
    private let state = Locked(DumpState())

    /// Whether the files are closed, so that nothing is written any more.
    var isClosed: Bool { !isOpen.withLock { $0 } }

    /// The number of lines that are missing in the log; nil if there is no log.
    var linesLost: Int? { log?.lost }

    /// Begins to write the files that the settings name. Blocks the thread.
    ///
    /// - Throws: ``PolicyError`` if `isRequired` and the folder or the log cannot be written.
    init(
        _ settings: ProcessSettings, _ names: ProcessFiles, isRequired: Bool, problems: CacheProblems,
        sinks: EventSinks,
        world: any World, tell: @escaping @Sendable (String) -> Void,
        dump: @escaping @Sendable () async -> MetricsDump?
    ) throws(PolicyError) {
        self.settings = settings
        self.sinks = sinks
        self.world = world
        self.problems = problems
        self.tell = tell
        self.dump = dump
        self.names = names
        if settings.metrics != nil || settings.log != nil {
            names.take()
            names.removeFilesOfEnded(settings)
        }
        let folder = names.cacheFolder
        let own = settings.marked(names.mark)
        files = own.metrics.map { DumpFiles(folder: folder, settings: $0) }
        let log = own.log.map { log in
            LineFile(folder + "/" + log.file, capacity: log.capacity, world: world) {
                Self.handle($0, problems: problems, tell: tell)
            }
        }
        self.log = log
        listening = log.map { log in sinks.decisions.add { log.append($0.json.text(indented: false)) } }
        let (stream, moments) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.moments = moments
        let failures = Self.prepare(folder, files: files, log: log)
        if isRequired, let failure = failures.log ?? failures.dump {
            throw PolicyError([
                Problem(
                    "the files it names cannot be written in \(folder): \(failure)",
                    file: ProcessSettings.file)
            ])
        }
        if let failure = failures.log {
            Self.handle(.failed(failure.description), problems: problems, tell: tell)
        } else {
            problems.end(Self.logPart, of: nil)
        }
        if let failure = failures.dump { failed(failure) }
        if settings.metrics == nil { problems.end(Self.dumpPart, of: nil) }
        if let metrics = settings.metrics { work.withLock { $0 = start(metrics, stream) } }
    }

    deinit {
        for task in work.withLock({ $0 }) { task.cancel() }
    }

    /// Makes the folder, opens the log, and checks the place of the dumps.
    private static func prepare(
        _ folder: String, files: DumpFiles?, log: LineFile?
    ) -> (log: Disk.Failure?, dump: Disk.Failure?) {
        if files == nil, log == nil { return (nil, nil) }
        var (failure, logFailure): (Disk.Failure?, Disk.Failure?)
        do { try Disk.makeFolder(folder) } catch { failure = error }
        // The log is opened even without the folder, because it must know that it fails.
        if let log { do { try log.open() } catch { logFailure = failure ?? error } }
        return (logFailure, files.flatMap { failure ?? $0.obstacle })
    }

    /// Starts the tasks: one writes, the others tell it when.
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

    /// Writes the last dump and the rest of the log. Nothing is written afterwards.
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
        listening?.stop()
        await log?.flush()
        names.release()
    }

    private func write() async {
        await log?.retry()
        guard let files, let dump = await dump() else { return }
        sinks.dumps.send(dump)
        do {
            let path = files.folder + "/" + files.settings.file
            wrote(
                wasThere: try await world.blocking(on: path) { [names, settings] in
                    defer { names.removeFilesOfEnded(settings) }
                    names.restore()
                    return try files.write(dump)
                })
        } catch {
            failed(error)
        }
    }

    private func wrote(wasThere: Bool) {
        let isMissed = state.withLock { state in
            let isMissed = state.wasWritten && !wasThere && !state.wasMissed
            (state.wasWritten, state.wasMissed) = (true, state.wasMissed || isMissed)
            return isMissed
        }
        problems.end(Self.dumpPart, of: nil)
        if isMissed { tell("the file of the dump had been moved or deleted, and is begun anew") }
    }

    private func failed(_ error: any Error) {
        state.withLock { $0.wasWritten = false }
        let reason = (error as? Disk.Failure)?.description ?? LoadError.name(of: error)
        problems.begin(CacheProblem(resource: nil, part: Self.dumpPart, reason: reason))
    }

    private static func handle(_ event: LineFile.Event, problems: CacheProblems, tell: (String) -> Void) {
        switch event {
        case .failed(let reason): problems.begin(CacheProblem(resource: nil, part: logPart, reason: reason))
        case .resumed(let lost):
            problems.end(logPart, of: nil)
            if lost > 0 { tell("lines that are missing in the log: \(lost)") }
        case .begunAnew: tell("the log had been moved, deleted or emptied, and is begun anew")
        }
    }
}
