public import Larder
import LarderFoundation
import LarderSystem

/// The editions of a pantry: signed sets of policies that arrive over the network and take the place of the app's own.
///
/// ```swift
/// guard let editions = pantry.editions else { return }
/// print(editions.running ?? 0)
/// for await event in editions.events { log("\(event)") }
/// ```
///
/// The section `channel` of `_larder.json` makes it. Starting never waits for the network: the edition that was in effect
/// is read from the data folder and verified again.
public final class Editions: Attachment {
    /// The keys of policies that editions may change unless the section says otherwise.
    public static let usualReach = ["around", "strategy", "validators", "fallbacks", "refresh", "prefetch", "promises"]
    /// The longest time after a start until the channel is asked for.
    private static let firstDelay = Duration.seconds(5)
    /// The time after which a failed poll is repeated; it doubles with each failure, up to the time of `every`.
    private static let firstRetry = Duration.seconds(60)
    /// The largest number of editions that one poll fetches.
    private static let mostFetched = 4

    private struct Loads {
        var count = 0
        /// Whether they are being counted in the files.
        var isSettling = false
        var subscription: Subscription?
    }

    private let settings: SettingValues<ChannelSettings>
    private let context: SectionContext
    private let origin: any Loader
    /// The machine with its files. Only threads that may block use it.
    private let machine: BlockingLock<EditionMachine>
    private let known: Locked<EditionFacts>
    private let loads = Locked(Loads())
    private let failures = Locked(0)
    private let listeners = EventStreams()
    private let item = Locked<AgendaItem?>(nil)
    /// The time of the last poll that is known here.
    private let polled = Locked<Timestamp?>(nil)

    private var world: any World { context.world }

    init(_ settings: SettingValues<ChannelSettings>, _ context: SectionContext) throws {
        (self.settings, self.context) = (settings, context)
        guard settings.origin.originTraits.parameters?.contains("file") ?? true else {
            throw EditionError(.badFile, "the origin of the channel does not take {file}")
        }
        origin = try settings.origin.origin(in: context)
        let rules = EditionRules(
            name: settings.name, ring: settings.ring, release: settings.release, steer: settings.steer,
            confirmingLoads: settings.confirmAfter, pin: settings.pin,
            registry: context.ownPantry?.registry ?? Registry())
        let world = context.world
        machine = BlockingLock(
            EditionMachine(
                rules, files: Self.files(settings.name, context),
                isActive: context.allowsDueWork,
                newInstallation: { EditionMachine.digits(world) }))
        known = Locked(EditionFacts())
        let last = machine.withLock { $0.polled }.flatMap { $0 <= world.now ? $0 : nil }
        polled.withLock { $0 = last }
        if context.allowsDueWork {
            let delay = Self.firstDelay * world.chance()
            item.withLock { $0 = context.addWork(after: delay) { [weak self] in await self?.runPoll() } }
        }
    }

    /// Returns the files of the data folder. Without them, the app goes on with its own policies.
    private static func files(_ name: String, _ context: SectionContext) -> any EditionFiles {
        do { return EditionFolder(place: try context.dataPlace(name)) } catch {
            context.tell(.edition, "editions cannot be kept: \(error)")
            return NoFiles()
        }
    }

    // MARK: State

    /// The number of the edition in effect; nil for the app's own policies.
    public var running: Int? { known.withLock { $0.running } }

    /// Whether the edition in effect has not proved itself yet.
    public var isTrial: Bool { known.withLock { $0.isTrial } }

    /// The events from now on. Each access returns a new stream, which ends with the pantry.
    public var events: AsyncStream<EditionEvent> { listeners.stream() }

    /// Stays on an edition that is on this device, whatever the channel says. 0 stands for the app's own policies, and nil
    /// follows the channel again. The choice survives restarts.
    ///
    /// - Throws: ``EditionError`` with the code `needs` if the edition is not on this device; `PolicyError` if the
    ///   policies cannot be put in effect.
    public func pin(_ number: Int?) async throws {
        try await world.blocking { [machine] in try machine.withLock { try $0.pin(number) } }
        try await context.ownPantry?.reload()
    }

    /// Asks for the channel now, and puts in effect what it says.
    ///
    /// - Returns: whether the channel was reached and is genuine.
    @discardableResult
    public func poll() async -> Bool {
        guard let item = item.withLock({ $0 }) else { return false }
        return await item.runNow() && failures.withLock { $0 } == 0
    }

    // MARK: Polling

    /// Asks for the channel.
    ///
    /// - Returns: the time until the next poll.
    private func runPoll() async -> Duration? {
        let isReached = await ask()
        let now = world.now
        polled.withLock { $0 = now }
        let failed = failures.withLock { failures in
            failures = isReached ? 0 : min(failures + 1, 16)
            return failures
        }
        let pause = failed == 0 ? settings.every : min(settings.every, Self.firstRetry * (1 << (failed - 1)))
        return pause.scaled(by: 0.9 + 0.2 * world.chance())
    }

    private func ask() async -> Bool {
        do {
            try await receiveChannel()
            let count = loads.withLock { loads in
                defer { loads.count = 0 }
                return loads.count
            }
            let confirmed = try await use { machine, now in
                let first = count > 0 ? machine.answered(count) : nil
                return machine.reached(at: now) ?? first
            }
            tell(confirmed.map(EditionEvent.confirmed))
        } catch {
            let reason = EditionError(fetching: error)
            _ = try? await use { $0.failed(reason, at: $1) }
            // A channel that cannot be reached for a month is no event each time.
            if error is EditionError { tell(.channelRefused(reason)) }
            return false
        }
        var failed: Set<String> = []
        for _ in 0..<Self.mostFetched {
            let isComplete = await fetch(&failed)
            await apply()
            if isComplete { break }
        }
        return true
    }

    private func receiveChannel() async throws {
        let etag = try await use { machine, _ in machine.etag }
        let loaded = try await load(settings.name + ".channel", etag: etag)
        if loaded.source == .revalidated { return }
        guard loaded.value.payload.bytes.count <= SignedFile.mostBytes else { throw EditionError.tooLarge(.channel) }
        let (bytes, new) = (Array(loaded.value.payload.bytes), loaded.value.metadata.etag)
        try await use { try $0.receive(channel: bytes, etag: new, at: $1) }
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
            let edition = try await use { machine, _ in try machine.receive(edition: bytes, for: listed) }
            tell(.offered(edition.number))
        } catch {
            failed.insert(listed.digest)
            let reason = EditionError(fetching: error)
            _ = try? await use { machine, _ in machine.failedToFetch(reason) }
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

    /// Uses the machine on a thread that may block.
    private func use<Result: Sendable>(
        _ body: @escaping @Sendable (inout EditionMachine, Timestamp) throws -> Result
    ) async throws -> Result {
        let now = world.now
        return try await world.blocking { [machine, known] in
            try machine.withLock { machine in
                defer { known.withLock { $0 = machine.facts } }
                return try body(&machine, now)
            }
        }
    }

    private func tell(_ event: EditionEvent?) {
        guard let event else { return }
        context.tell(.edition, event.description)
        listeners.send(event)
    }

    /// Ends polling. An edition on trial stays on trial.
    public func close() async {
        await item.withLock { $0.take() }?.end()
        loads.withLock { $0.subscription.take() }?.stop()
        _ = try? await use { machine, _ in machine.close() }
        listeners.end()
    }
}

extension Editions: PolicySupply {
    /// The keys in which an edition may differ.
    public var reach: Set<String> { Set(settings.reach) }

    /// Returns the policies of the edition that is to be in effect.
    public func supply(over own: String) -> [String: String]? {
        let now = world.now
        return machine.withLock { machine in
            defer { known.withLock { $0 = machine.facts } }
            return machine.supply(over: own, at: now)?.texts
        }
    }

    /// Notes that the edition is in effect, or is refused.
    public func supplied(_ result: PolicySupplyResult) {
        let now = world.now
        let (events, wantsLoads) = machine.withLock { machine -> ([EditionEvent], Bool) in
            defer { known.withLock { $0 = machine.facts } }
            switch result {
            case .inEffect: return (machine.supplied(nil, at: now), machine.wantsLoads)
            case .refused(let error): return (machine.supplied(EditionError(error), at: now), machine.wantsLoads)
            case .untried:
                machine.untried()
                return ([], false)
            }
        }
        for event in events { tell(event) }
        if wantsLoads { countLoads() }
    }

    /// The facts for dumps.
    public var facts: [String: String] {
        known.withLock { $0.dumped }.merging(["channel": settings.name]) { $1 }
    }
}

extension Editions: DueWork {
    /// The time at which the channel is asked for next.
    public var nextDue: Timestamp? {
        guard item.withLock({ $0?.isActive }) == true else { return nil }
        return polled.withLock { $0 }.map { $0 + settings.every } ?? world.now
    }

    /// Asks for the channel if it is time to.
    public func runDue() async -> DueResult {
        guard let due = nextDue, due <= world.now, let item = item.withLock({ $0 }) else { return .notDue }
        if item.unmet == .network { return .waiting("for a network") }
        guard await item.runNow() else { return .unfinished }
        return failures.withLock { $0 } == 0 ? .ran : .failed("the channel could not be used")
    }
}

extension Pantry {
    /// The editions of the pantry; nil if `_larder.json` has no section `channel`.
    public var editions: Editions? { attachment(Editions.self) }
}

// MARK: Loads

extension Editions {
    /// Counts answered loads as long as they are of interest.
    private func countLoads() {
        guard let pantry = context.ownPantry else { return }
        let isCounting = loads.withLock { loads in
            defer { loads.count = 0 }
            return loads.subscription != nil
        }
        if isCounting { return }
        let subscription = pantry.attach(LoadCounter { [weak self] in self?.answered() })
        loads.withLock { $0.subscription = subscription }
    }

    /// Called by each answered load, so it only counts. The files follow later.
    private func answered() {
        let limit = settings.confirmAfter
        let isDue = loads.withLock { loads in
            loads.count += 1
            guard !loads.isSettling, loads.count == 1 || loads.count % limit == 0 else { return false }
            loads.isSettling = true
            return true
        }
        if isDue { _ = world.spawn { [weak self] in await self?.settle() } }
    }

    private func settle() async {
        let count = loads.withLock { loads in
            defer { loads.count = 0 }
            return loads.count
        }
        let result = try? await use { machine, _ in (machine.answered(count), machine.wantsLoads) }
        let ended = loads.withLock { loads in
            loads.isSettling = false
            return result?.1 == false ? loads.subscription.take() : nil
        }
        ended?.stop()
        tell(result?.0.map(EditionEvent.confirmed))
    }
}

/// Counts the loads that were answered with a value.
private struct LoadCounter: MetricsSink {
    let answered: @Sendable () -> Void

    func ended(_ load: LoadReport) {
        if load.source != nil { answered() }
    }
}

extension Decision.Kind {
    /// An edition came, took effect, was refused or was left.
    static let edition = Decision.Kind(rawValue: "edition")
}

extension EditionMachine {
    /// Returns 32 random hexadecimal digits.
    fileprivate static func digits(_ world: any World) -> String {
        let digits = (0..<2).map { _ in
            let text = String(world.random(), radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return digits.joined()
    }
}

extension EditionError {
    /// The reason why a file could not be fetched.
    fileprivate init(fetching error: any Error) {
        let code = (error as? LoadError).map { ": \($0.code.rawValue)" } ?? ""
        self = error as? EditionError ?? EditionError(.unreachable, "its file cannot be loaded" + code)
    }

    /// The reason why policies could not be composed.
    fileprivate init(_ error: PolicyError) {
        let errors = error.problems.filter { $0.severity == .error }
        let first = errors.first { $0.rule == Code.reach.rawValue } ?? errors.first
        self.init(
            first?.rule == Code.reach.rawValue ? .reach : .unsound, first?.description ?? "its policies have errors")
    }
}
