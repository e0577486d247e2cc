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
    /// The time after which a start without any load is no longer taken for a crash if the process is killed.
    private static let longestStart = Duration.seconds(60)

    let settings: SettingValues<ChannelSettings>
    let context: SectionContext
    let origin: any Loader
    /// The machine with its files. Only threads that may block use it.
    private let machine: BlockingLock<EditionMachine>
    private let known: Locked<EditionFacts>
    let loads = AnsweredLoads()
    let polling = Locked(ChannelPoll())
    private let listeners = Listeners<EditionEvent>()
    private let start = Locked<AgendaItem?>(nil)

    var world: any World { context.world }

    init(_ settings: SettingValues<ChannelSettings>, _ context: SectionContext) throws {
        (self.settings, self.context) = (settings, context)
        origin = try settings.origin.origin(in: context)
        let world = context.world
        let registry = context.ownPantry?.registry ?? Registry()
        var rules = try EditionRules(settings, registry: registry)
        if let file = settings.emergency {
            do {
                let edition = try rules.edition(file.bytes, digest: file.digest)
                rules.emergency = KeptEdition(digest: file.digest, edition: edition)
            } catch { context.tell(.edition, "the emergency edition cannot be used: \(error)") }
        }
        let name = settings.name
        let folder = EditionFolder { try context.dataPlace(name) }
        // Without the folder, the app goes on with its own policies.
        do { _ = try folder.path() } catch { context.tell(.edition, "\(error)") }
        machine = BlockingLock(
            EditionMachine(
                rules, files: folder, program: Self.program, isActive: context.allowsDueWork,
                newInstallation: { EditionMachine.digits(world) }))
        known = Locked(EditionFacts())
        guard context.allowsDueWork else { return }
        let delay = Self.firstDelay * world.chance()
        polling.withLock { $0.item = context.addWork(after: delay) { [weak self] in await self?.runPoll() } }
        let item = context.addWork(after: Self.longestStart) { [weak self] in
            _ = try? await self?.use { machine, _ in machine.endStart() }
            return nil
        }
        start.withLock { $0 = item }
    }

    /// A mark of the program's file, which changes with each version of the app.
    private static var program: String? {
        #if canImport(Darwin)
            let path = Bundle.main.executablePath
        #else
            let path: String? = "/proc/self/exe"
        #endif
        return path.flatMap(Disk.stamp).map { "\($0.device) \($0.inode) \($0.size) \($0.modified)" }
    }

    // MARK: State

    /// The number of the edition in effect; nil for the app's own policies.
    public var running: Int? { known.withLock { $0.running } }

    /// Whether the edition in effect has not proved itself yet.
    public var isTrial: Bool { known.withLock { $0.isTrial } }

    /// The events from now on. Each access returns a new stream, which ends with the pantry.
    public var events: AsyncStream<EditionEvent> { listeners.stream(most: 100) }

    /// The time at which the channel was last reached; nil if it never was, or if that time is still to come.
    var reached: Timestamp? { known.withLock { $0.reached }.flatMap { $0 <= world.now ? $0 : nil } }

    /// Stays on an edition that is on this device, whatever the channel says. 0 stands for the app's own policies, and nil
    /// follows the channel again. The choice survives restarts.
    ///
    /// - Throws: ``EditionError`` with the code `needs` if the edition is not on this device or cannot be used here, or if the
    ///   setting `pin` has chosen one; `PolicyError` if no policies can be put in effect; the error of the disk. The choice
    ///   before then holds.
    public func pin(_ number: Int?) async throws {
        let former = try await use { machine, _ in try machine.pin(number) }
        do {
            try await context.ownPantry?.reload()
            guard let number, number != running ?? 0 else { return }
            throw EditionError(.needs, "edition \(number) cannot be put in effect here")
        } catch {
            try await use { machine, _ in try machine.unpin(to: former) }
            _ = try? await context.ownPantry?.reload()
            throw error
        }
    }

    /// Ends polling. An edition on trial stays on trial.
    public func close() async {
        await polling.withLock { $0.item.take() }?.end()
        await start.withLock { $0.take() }?.end()
        loads.close()
        _ = try? await use { [loads] machine, _ in
            let count = loads.collect()
            if count > 0 { _ = machine.answered(count) }
            machine.endStart()
        }
        listeners.end()
    }

    // MARK: The machine

    /// Uses the machine on a thread that may block.
    func use<Result: Sendable>(
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

    func tell(_ event: EditionEvent?) {
        guard let event else { return }
        context.tell(.edition, event.description)
        listeners.send(event)
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

    /// Tells that the edition is in effect, or is refused.
    public func supplied(_ result: PolicySupplyResult) {
        let (events, wantsLoads) = machine.withLock { machine -> ([EditionEvent], Bool) in
            defer { known.withLock { $0 = machine.facts } }
            switch result {
            case .inEffect: return (machine.supplied(nil), machine.wantsLoads)
            case .refused(let error): return (machine.supplied(EditionError(error)), machine.wantsLoads)
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

extension Pantry {
    /// The editions of the pantry; nil if `_larder.json` has no section `channel`.
    public var editions: Editions? { attachment(Editions.self) }
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
    /// The reason why policies could not be composed.
    fileprivate init(_ error: PolicyError) {
        let errors = error.problems.filter { $0.severity == .error }
        let first = errors.first { $0.rule == Code.reach.rawValue } ?? errors.first
        self.init(
            first?.rule == Code.reach.rawValue ? .reach : .unsound, first?.description ?? "its policies have errors")
    }
}
