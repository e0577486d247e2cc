import LarderSystem
import LarderFoundation
import Larder

/// One load with the state of copy, origin, store and caller.
struct StrategySituation: Sendable, CustomStringConvertible {
    /// The copy in the store when the load begins.
    enum Copy: String, Sendable, CaseIterable {
        case none = "no copy"
        case fresh = "a fresh copy"
        case inBoth = "a stale copy in both windows"
        case whileRevalidating = "a copy permitted while revalidating only"
        case onError = "a copy permitted on error only"
        case beyond = "a copy past every window"
        case agesMeanwhile = "a copy that stops being fresh after 10 ms"
        case endsMeanwhile = "a copy whose windows end after 10 ms"
        case fromTheFuture = "a copy from the future"

        /// The lengths of the three windows.
        private var limits: (fresh: Int, whileRevalidating: Int, onError: Int) {
            switch self {
            case .whileRevalidating: (300, 604_800, 3_600)
            case .agesMeanwhile: (300, 0, 0)
            case .endsMeanwhile: (300, 3_600, 3_600)
            default: (300, 3_600, 604_800)
            }
        }

        var windows: JSON {
            [
                "fresh": .string("\(limits.fresh)s"), "whileRevalidating": .string("\(limits.whileRevalidating)s"),
                "onError": .string("\(limits.onError)s"),
            ]
        }

        var age: Duration? {
            switch self {
            case .none: nil
            case .fresh: .seconds(60)
            case .inBoth: .seconds(1_800)
            case .whileRevalidating, .onError: .seconds(7_200)
            case .beyond: .seconds(8 * 86_400)
            case .agesMeanwhile: .seconds(300) - .milliseconds(10)
            case .endsMeanwhile: .seconds(3_900) - .milliseconds(10)
            case .fromTheFuture: .seconds(-3_600)
            }
        }

        /// Returns the permitted uses at a time after the load began.
        func uses(after time: Duration) -> Uses {
            guard let age = age.map({ $0 + time }) else { return [] }
            if age >= .zero, age < .seconds(limits.fresh) { return .showing }
            let over = age < .zero ? .zero : age - .seconds(limits.fresh)
            var uses: Uses = []
            if over < .seconds(limits.whileRevalidating) { uses.insert(.whileRevalidating) }
            if over < .seconds(limits.onError) { uses.insert(.onError) }
            return uses
        }
    }

    /// The events during the load.
    enum Event: String, Sendable, CaseIterable {
        case works = "the origin sends after 20 ms"
        case unchanged = "the origin says unchanged after 20 ms"
        case fails = "the origin fails with 503 after 20 ms"
        case throwsForeign = "the origin throws an error of its own after 20 ms"
        case gone = "the origin answers 404 after 20 ms"
        case forbidden = "the origin answers 403 after 20 ms"
        case unreadablePayload = "the origin sends what does not decode after 20 ms"
        case slow = "the origin takes 2 s"
        case deaf = "the origin never ends, the caller is cancelled after 30 s"
        case cancelled = "the caller is cancelled after 10 ms"
        case cleared = "everything is cleared after 10 ms"
        case unreadable = "the store cannot be read"
        case unreadableAndFails = "the store cannot be read and the origin fails"
        case unwritable = "the store cannot be written"
        case slowStore = "the store takes 2 s to find the copy"

        static let short = Duration.milliseconds(20)
        static let long = Duration.seconds(2)
        static let interruption = Duration.milliseconds(10)
        static let end = Duration.seconds(30)

        var act: ScriptedOrigin.Act {
            switch self {
            case .works, .cancelled, .cleared, .unreadable, .unwritable, .slowStore: .value("new", after: Self.short)
            case .unchanged: .unchanged(after: Self.short)
            case .fails, .unreadableAndFails: .failure(.status(503), after: Self.short)
            case .throwsForeign: .throwing(Outage(), after: Self.short)
            case .gone: .failure(.status(404), after: Self.short)
            case .forbidden: .failure(.status(403), after: Self.short)
            case .unreadablePayload: .value(Words.unreadable, after: Self.short)
            case .slow: .value("new", after: Self.long)
            case .deaf: .deaf
            }
        }

        /// The duration of the call.
        var takes: Duration { self == .slow ? Self.long : self == .deaf ? .forever : Self.short }

        /// Whether the call fails, so that a copy may replace its answer.
        var isFailure: Bool {
            [.fails, .throwsForeign, .unreadablePayload, .unreadableAndFails].contains(self)
        }

        var isAnswer: Bool { self == .gone || self == .forbidden }
        /// Whether the copy can be read in time.
        var isReadable: Bool { ![.unreadable, .unreadableAndFails, .slowStore].contains(self) }
        /// Whether the origin sends an answer that a waiting caller receives.
        var delivers: Bool {
            [.works, .unchanged, .slow, .cleared, .unreadable, .unwritable, .slowStore].contains(self)
        }
    }

    struct Outage: Error {}

    /// The observed results of the load.
    struct Seen: Sendable {
        var outcome: ObservedTask<Loaded<String>>
        /// The duration of the load.
        var after: Duration
        /// The patience that the strategy declares.
        var patience: Duration?
        var calls: Int
        /// The number of calls that named the copy.
        var conditional: Int
        var reads: Int
        var writes: Int
        var held: String?
        var leftRunning: Int
    }

    var copy: Copy
    var event: Event
    var mode: Request.Mode = .normal
    var deadline: Duration?
    /// Whether the store is foreign, so that it never answers at once.
    var isForeign = true

    var description: String {
        var text = "\(copy.rawValue), \(event.rawValue)"
        if mode != .normal { text += ", \(mode)" }
        if let deadline { text += ", a deadline of \(deadline.brief)" }
        return isForeign ? text : text + ", a store that answers at once"
    }

    /// Returns the situations for a strategy with these needs.
    static func all(for needs: StrategyNeeds) -> [StrategySituation] {
        var situations: [StrategySituation] = []
        for copy in Copy.allCases {
            // A slow store is tested only with a deadline.
            for event in Event.allCases where event != .slowStore {
                // The origin can answer "unchanged" only if there is a copy that the call can name.
                if event == .unchanged, copy == .none || needs != [.origin, .store] { continue }
                situations.append(StrategySituation(copy: copy, event: event))
                if event.isReadable {
                    situations.append(StrategySituation(copy: copy, event: event, isForeign: false))
                }
            }
            let modes: [Request.Mode] = needs.contains(.origin) ? [.refresh, .cachedOnly] : [.cachedOnly]
            for mode in modes {
                for event in [Event.works, .fails, .gone, .unreadable] {
                    situations.append(StrategySituation(copy: copy, event: event, mode: mode))
                }
            }
            for event in [Event.slow, .deaf, .fails, .slowStore] {
                situations.append(StrategySituation(copy: copy, event: event, deadline: .milliseconds(100)))
            }
            for event in [Event.works, .fails, .gone] {
                situations.append(StrategySituation(copy: copy, event: event, deadline: .milliseconds(10)))
            }
        }
        return situations
    }

    /// Runs the load in this situation and returns the observed results.
    func run(_ suite: StrategyConformance) throws -> Seen {
        try SimulatedWorld().run(leaving: .anything) { world in
            let stage = try await suite.stage(world, copies: copy, isForeign: isForeign)
            try await prepare(stage)
            let reads = stage.store.count(of: .read)
            let start = world.uptime
            let load = stage.load(mode: mode, deadline: deadline)
            try await world.sleep(for: Event.interruption)
            if event == .cancelled { load.cancel() }
            if event == .cleared { try await stage.pantry.clear() }
            try await world.sleep(for: Event.end - Event.interruption)
            load.cancel()
            try await world.runPendingTasks()
            let after = (load.ending?.at ?? .forever) - start
            try await world.sleep(for: .seconds(7_200))
            return Seen(
                outcome: load, after: after, patience: stage.strategy?.traits.patience,
                calls: stage.origin.calls.count, conditional: stage.origin.calls.count { $0.known != nil },
                reads: stage.store.count(of: .read) - reads, writes: stage.store.count(of: .write),
                held: stage.held(), leftRunning: stage.leftRunning)
        }
    }

    private func prepare(_ stage: SimulatedPantry) async throws {
        stage.origin.play(then: event.act)
        if let age = copy.age {
            let metadata = Metadata(fetchedAt: stage.world.now - age, etag: "e1")
            stage.store.put(Entry(Data("old".utf8), metadata), for: TestedPlugin.key())
            // A copy can be answered at once only if it is already decoded.
            if !isForeign { _ = try? await stage.handle.load(mode: .cachedOnly) }
        }
        if !event.isReadable {
            stage.store.set(event == .slowStore ? .takes(Event.long) : .fails, for: .read)
        }
        if event == .unwritable { stage.store.set(.fails, for: .write) }
    }
}
