import FoundationEssentials
import Larder
import LarderSimulation

/// Knows what a policy promises, and looks at what came of each load.
final class Judge: Sendable {
    /// What callers got, to be compared with what was counted.
    struct Tally: Equatable, Sendable {
        var values: UInt64 = 0
        var failures: UInt64 = 0
        var cancelled: UInt64 = 0
        var cachedOnly: UInt64 = 0
        var fallbacks: UInt64 = 0
        var stale: UInt64 = 0
    }

    private struct State {
        var tally = Tally()
        var transcript: [String] = []
        var broken: [String] = []
        /// For each key, when the call began that said it is gone: what was asked for before was dropped.
        var gone: [Key: Duration] = [:]
        var steps = 0
    }

    private let world: SimulatedWorld
    private let witness: Witness
    private let origin: WalkOrigin
    private let fresh: Duration
    private let shown: Duration
    private let largest: Int
    private let state = Locked(State())

    init(_ policy: Policy, _ world: SimulatedWorld, _ witness: Witness, _ origin: WalkOrigin) {
        self.world = world
        self.witness = witness
        self.origin = origin
        let ages = policy.validators.filter { $0.plugin.name == "age" }
        func shortest(_ windows: [Duration]) -> Duration { windows.min() ?? .forever }
        fresh = shortest(ages.map { $0.duration("fresh") })
        shown = shortest(ages.compactMap(\.traits.showsFor))
        largest = policy.validators.filter { $0.plugin.name == "max-size" }.compactMap { $0.size("most") }.min() ?? .max
    }

    /// Bytes as text, one scalar each, whatever they are.
    static func text(_ bytes: Data) -> String {
        var text = ""
        text.unicodeScalars += bytes.map { UnicodeScalar($0) }
        return text
    }

    var tally: Tally { state.withLock { $0.tally } }
    var transcript: [String] { state.withLock { $0.transcript } }
    var broken: [String] { state.withLock { $0.broken } }

    func tell(_ line: String) { state.withLock { $0.transcript.append("\(world.uptime) \(line)") } }

    func report(_ line: String) {
        tell("BROKEN: " + line)
        state.withLock { $0.broken.append(line) }
    }

    /// The wall clock jumped: ages measured before mean nothing any more.
    func stepped() { state.withLock { $0.steps += 1 } }

    /// Makes a load and looks at what comes of it. `faults` tells how often the store failed so far.
    func load(
        _ number: Int, _ request: Request, faults: @Sendable () -> Bool,
        _ load: () async throws -> Loaded<String>
    ) async {
        let key = request.key
        let (steps, gone) = state.withLock { ($0.steps, $0.gone[key] ?? .zero) }
        let start = world.uptime
        let calls = witness.events(of: key).count
        tell("load \(number) begins: \(request.mode) \(key.text)")
        do {
            let loaded = try await load()
            count(loaded, request)
            tell("load \(number): \(loaded.value.prefix(40)) \(loaded.source) \(loaded.freshness) \(loaded.trail)")
            check(number, loaded, key, goneUpTo: faults() ? .zero : gone)
            if state.withLock({ $0.steps == steps }) { checkAge(number, loaded, key, within: world.uptime - start) }
        } catch let error as LoadError {
            state.withLock { state in
                if request.mode == .cachedOnly { state.tally.cachedOnly += 1 } else { state.tally.failures += 1 }
                if error.saysGone {
                    let answers = witness.events(of: key)[calls...].filter(\.saysGone)
                    state.gone[key] = max(state.gone[key] ?? .zero, answers.map(\.began).min() ?? .zero)
                }
            }
            tell("load \(number): \(error.code) \(error.message) \(error.trail)")
        } catch {
            state.withLock { $0.tally.cancelled += 1 }
            tell("load \(number): \(type(of: error))")
        }
    }

    private func count(_ loaded: Loaded<String>, _ request: Request) {
        state.withLock { state in
            if request.mode == .cachedOnly {
                state.tally.cachedOnly += 1
                return
            }
            state.tally.values += 1
            if loaded.fellBack { state.tally.fallbacks += 1 }
            if case .store = loaded.source, loaded.freshness == .stale { state.tally.stale += 1 }
        }
    }

    private func check(_ number: Int, _ loaded: Loaded<String>, _ key: Key, goneUpTo gone: Duration) {
        let events = witness.events(of: key).filter { $0.text == loaded.value }
        if loaded.trail.lines.contains(where: { $0.hasPrefix("origin: the origin answered 40") }) {
            report("load \(number): an answer was masked: \(loaded.trail)")
        }
        if case .fallback(let name) = loaded.source {
            if loaded.freshness == .fresh { report("load \(number): a fallback called fresh") }
            // What others give is not known here.
            if name == "walked", !origin.hasSent(loaded.value, for: key) { report("load \(number): \(loaded.value)") }
            return
        }
        if events.isEmpty { report("load \(number): no origin gave '\(loaded.value)' for \(key.text)") }
        if loaded.value.unicodeScalars.count > largest {
            report("load \(number): \(loaded.value.unicodeScalars.count) bytes were admitted")
        }
        guard case .store = loaded.source else { return }
        if events.allSatisfy({ $0.began < gone }) {
            report("load \(number): shown although it is gone since \(gone)")
        }
        let age = loaded.age ?? .zero
        if loaded.freshness == .fresh, age < .zero || age >= fresh {
            report("load \(number): fresh at \(age.brief), which is past \(fresh.brief)")
        }
        if loaded.freshness == .stale, age >= shown {
            report("load \(number): shown at \(age.brief), which is past \(shown.brief)")
        }
    }

    /// Whether the age that a copy is said to have is that of an answer that came.
    private func checkAge(_ number: Int, _ loaded: Loaded<String>, _ key: Key, within length: Duration) {
        guard case .store = loaded.source, let age = loaded.age else { return }
        let isTrue = witness.events(of: key).contains { event in
            let now = world.now - event.wall
            return event.text == loaded.value && age <= now && now - age <= length
        }
        if !isTrue { report("load \(number): said to be \(age.brief) old, but no answer is") }
    }
}

extension Part {
    /// The duration a setting has.
    fileprivate func duration(_ name: String) -> Duration {
        text(of: name).flatMap { Duration(spelled: $0) } ?? .forever
    }

    /// The size a setting has.
    func size(_ name: String) -> Int? {
        text(of: name).flatMap { Quantity.size.amount($0) }.map { Int($0) }
    }

    /// What a setting is, as it is written or by default.
    func text(of name: String) -> String? {
        settings.first { $0.name == name }.map { String($0.value.trimmingPrefix("\"").prefix { $0 != "\"" }) }
    }
}
