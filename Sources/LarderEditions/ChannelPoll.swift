public import Larder
import LarderFoundation
import LarderSystem

/// The state of asking for the channel.
struct ChannelPoll {
    /// The time after which a failed poll is repeated; it doubles with each failure, up to the time of `every`.
    static let firstRetry = Duration.seconds(60)
    /// The largest number of editions that one poll fetches.
    static let mostFetched = 4

    var item: AgendaItem?
    /// The number of polls in a row that failed.
    var failures = 0
    /// Whether the app has asked for a poll, whatever other processes did.
    var isWanted = false
}

extension Editions {
    /// Asks for the channel now, and puts in effect what it says.
    ///
    /// - Returns: whether the channel was reached and is genuine.
    @discardableResult
    public func poll() async -> Bool {
        let item = polling.withLock { poll in
            poll.isWanted = true
            return poll.item
        }
        guard let item else { return false }
        var hasRun = await item.runNow()
        // A poll that was about to end already has not asked.
        if polling.withLock({ $0.isWanted }) { hasRun = await item.runNow() }
        return hasRun && polling.withLock { $0.failures } == 0
    }

    /// Asks for the channel, unless another process has just done so.
    ///
    /// - Returns: the time until the next poll.
    func runPoll() async -> Duration? {
        if let pause = await pauseAfterOthers() {
            await fetchAndApply()
            return pause
        }
        let isReached = await ask()
        let failures = polling.withLock { poll in
            poll.failures = isReached ? 0 : min(poll.failures + 1, 16)
            return poll.failures
        }
        let every = settings.every
        let pause = failures == 0 ? every : min(every, ChannelPoll.firstRetry * (1 << (failures - 1)))
        return pause.scaled(by: 0.9 + 0.2 * world.chance())
    }

    /// The time until the next poll if the channel was reached not long ago; nil if it is to be asked for now.
    private func pauseAfterOthers() async -> Duration? {
        let mustAsk = polling.withLock { poll in
            defer { poll.isWanted = false }
            return poll.isWanted || poll.failures > 0
        }
        if mustAsk { return nil }
        let every = settings.every
        let last = try? await use { machine, _ in machine.lastReached }
        guard let last, last <= world.now, world.now - last < every.scaled(by: 0.8) else { return nil }
        return every.scaled(by: 0.9 + 0.2 * world.chance()) - (world.now - last)
    }

    private func ask() async -> Bool {
        do {
            try await receiveChannel()
            let confirmed = try await use { [loads] machine, now in
                let count = loads.collect()
                let first = count > 0 ? machine.answered(count) : nil
                return machine.reached(at: now) ?? first
            }
            tell(confirmed.map(EditionEvent.confirmed))
        } catch {
            let reason = EditionError(fetching: settings.name + ".channel", error)
            _ = try? await use { machine, _ in machine.failed(reason) }
            // A channel that cannot be reached for a month is no event each time.
            if reason.code != .unreachable { tell(.channelRefused(reason)) }
            // Another process may have had more luck.
            await apply()
            return false
        }
        await fetchAndApply()
        return true
    }

    /// Fetches the editions that the channel has for this installation, and puts in effect the one that is to be.
    private func fetchAndApply() async {
        var failed: Set<String> = []
        for _ in 0..<ChannelPoll.mostFetched {
            let isComplete = await fetch(&failed)
            await apply()
            if isComplete { break }
        }
    }

    private func receiveChannel() async throws {
        let etag = try await use { machine, _ in machine.etag }
        let loaded = try await load(settings.name + ".channel", etag: etag)
        if loaded.source == .revalidated { return try await use { try $0.kept.checkIsValid(at: $1) } }
        guard loaded.value.payload.bytes.count <= SignedFile.mostBytes else { throw EditionError.tooLarge(.channel) }
        let (bytes, new) = (Array(loaded.value.payload.bytes), loaded.value.metadata.etag)
        try await use { try $0.kept.receive(channel: bytes, etag: new, at: $1) }
    }

    /// Fetches the first edition that the channel has for this installation and that is not here.
    ///
    /// - Parameter failed: the digests of those that could not be fetched.
    /// - Returns: whether there is none.
    private func fetch(_ failed: inout Set<String>) async -> Bool {
        let known = failed
        guard let listed = try? await use({ $0.missing(at: $1, except: known) }) else { return true }
        do {
            let payload = try await load(listed.at, etag: nil).value.payload
            guard payload.bytes.count <= SignedFile.mostBytes else { throw EditionError.tooLarge(.edition) }
            let bytes = Array(payload.bytes)
            let edition = try await use { machine, _ in try machine.kept.receive(edition: bytes, for: listed) }
            tell(.offered(edition.number))
        } catch {
            failed.insert(listed.digest)
            let reason = EditionError(fetching: listed.at, error)
            _ = try? await use { machine, _ in machine.failedToFetch(listed, reason) }
            tell(.refused(nil, reason))
        }
        return false
    }

    /// Puts the edition in effect that is to be.
    private func apply() async {
        guard (try? await use { $0.isOutdated(at: $1) }) == true else { return }
        _ = try? await context.ownPantry?.reload()
    }

    private func load(_ file: String, etag: String?) async throws -> Loaded<Entry> {
        let call = Call(Request(context.resource, ["file": file], priority: .low))
        return try await origin.load(etag.map { call.knowing(Entry(Data(), Metadata(etag: $0))) } ?? call)
    }
}

extension Editions: DueWork {
    /// The time at which the channel is asked for next.
    public var nextDue: Timestamp? {
        guard polling.withLock({ $0.item?.isActive }) == true else { return nil }
        return reached.map { $0 + settings.every } ?? world.now
    }

    /// Asks for the channel if it is time to.
    public func runDue() async -> DueResult {
        guard let due = nextDue, due <= world.now, let item = polling.withLock({ $0.item }) else { return .notDue }
        if item.unmet == .network { return .waiting("for a network") }
        guard await item.runNow() else { return .unfinished }
        return polling.withLock { $0.failures } == 0 ? .ran : .failed("the channel could not be used")
    }
}

extension EditionError {
    /// The reason why a file could not be fetched or kept.
    fileprivate init(fetching file: String, _ error: any Error) {
        switch error {
        case let error as EditionError: self = error
        case is Disk.Failure: self.init(.disk, "\(file) cannot be kept on this device: \(error)")
        case let error as LoadError:
            let status = error.status.map { " with status \($0)" } ?? ""
            self.init(.unreachable, "\(file) cannot be loaded: \(error.code.rawValue)\(status)")
        default: self.init(.unreachable, "\(file) cannot be loaded")
        }
    }
}
