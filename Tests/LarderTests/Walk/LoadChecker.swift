import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation

/// A checker that compares the outcome of each load with the promises of the policy.
final class LoadChecker: Sendable {
    /// The outcomes that callers got, to compare with the metrics.
    struct Counts: Equatable, Sendable {
        var values: UInt64 = 0
        var failures: UInt64 = 0
        var cancelled: UInt64 = 0
        var cachedOnly: UInt64 = 0
        var fallbacks: UInt64 = 0
        var stale: UInt64 = 0
    }

    private struct State {
        var counts = Counts()
        var transcript: [String] = []
        var problems: [String] = []
        /// For each key, the start of the call whose answer was "gone". Copies from earlier calls were dropped.
        var gone: [Key: Duration] = [:]
        var steps = 0
    }

    private let world: SimulatedWorld
    private let recorder: FlightRecorder
    private let origin: WalkOrigin
    private let freshLimit: Duration
    private let servedLimit: Duration
    private let largest: Int
    private let state = Locked(State())

    init(_ policy: Policy, _ world: SimulatedWorld, _ recorder: FlightRecorder, _ origin: WalkOrigin) {
        self.world = world
        self.recorder = recorder
        self.origin = origin
        let ages = policy.validators.filter { $0.plugin.name == "age" }
        func shortest(_ windows: [Duration]) -> Duration { windows.min() ?? .forever }
        freshLimit = shortest(ages.map { $0.duration("fresh") })
        servedLimit = shortest(ages.compactMap(\.validatorTraits.showsFor))
        largest =
            policy.validators.filter { $0.plugin.name == "max-size" }.compactMap { $0.size("capacity") }.min() ?? .max
    }

    /// Returns bytes as text, with one scalar for each byte.
    static func text(_ bytes: Data) -> String {
        var text = ""
        text.unicodeScalars += bytes.map { UnicodeScalar($0) }
        return text
    }

    var counts: Counts { state.withLock { $0.counts } }
    var transcript: [String] { state.withLock { $0.transcript } }
    var problems: [String] { state.withLock { $0.problems } }

    func log(_ line: String) { state.withLock { $0.transcript.append("\(world.uptime) \(line)") } }

    func report(_ line: String) {
        log("PROBLEM: " + line)
        state.withLock { $0.problems.append(line) }
    }

    /// Records a jump of the wall clock. Ages that were measured before are not checked.
    func clockStepped() { state.withLock { $0.steps += 1 } }

    /// Makes a load and checks its outcome. `faults` returns whether the store has failed so far.
    func load(
        _ number: Int, _ request: Request, faults: @Sendable () -> Bool,
        _ load: () async throws -> Loaded<String>
    ) async {
        let key = request.key
        let (steps, gone) = state.withLock { ($0.steps, $0.gone[key] ?? .zero) }
        let start = world.uptime
        let calls = recorder.events(of: key).count
        log("load \(number) begins: \(request.mode) \(key.text)")
        do {
            let loaded = try await load()
            count(loaded, request)
            log("load \(number): \(loaded.value.prefix(40)) \(loaded.source) \(loaded.freshness) \(loaded.trail)")
            check(number, loaded, key, goneUpTo: faults() ? .zero : gone)
            if state.withLock({ $0.steps == steps }) { checkAge(number, loaded, key, within: world.uptime - start) }
        } catch let error as LoadError {
            state.withLock { state in
                if request.mode == .cachedOnly { state.counts.cachedOnly += 1 } else { state.counts.failures += 1 }
                if error.saysGone {
                    let answers = recorder.events(of: key)[calls...].filter(\.saysGone)
                    state.gone[key] = max(state.gone[key] ?? .zero, answers.map(\.began).min() ?? .zero)
                }
            }
            log("load \(number): \(error.code) \(error.message) \(error.trail)")
        } catch {
            state.withLock { $0.counts.cancelled += 1 }
            log("load \(number): \(type(of: error))")
        }
    }

    private func count(_ loaded: Loaded<String>, _ request: Request) {
        state.withLock { state in
            if request.mode == .cachedOnly {
                state.counts.cachedOnly += 1
                return
            }
            state.counts.values += 1
            if loaded.fellBack { state.counts.fallbacks += 1 }
            if case .store = loaded.source, loaded.freshness == .stale { state.counts.stale += 1 }
        }
    }

    private func check(_ number: Int, _ loaded: Loaded<String>, _ key: Key, goneUpTo gone: Duration) {
        let events = recorder.events(of: key).filter { $0.text == loaded.value }
        if loaded.trail.steps.contains(where: { $0.part == "origin" && $0.event[.code] == .answer }) {
            report("load \(number): an answer was masked: \(loaded.trail)")
        }
        if case .fallback(let name) = loaded.source {
            if loaded.freshness == .fresh { report("load \(number): a fallback's value is marked fresh") }
            // The values of other fallbacks are not known here.
            if name == "walked", !origin.hasSent(loaded.value, for: key) { report("load \(number): \(loaded.value)") }
            return
        }
        if events.isEmpty { report("load \(number): the origin never sent '\(loaded.value)' for \(key.text)") }
        if loaded.value.unicodeScalars.count > largest {
            report("load \(number): \(loaded.value.unicodeScalars.count) bytes were admitted")
        }
        guard case .store = loaded.source else { return }
        if events.allSatisfy({ $0.began < gone }) {
            report("load \(number): a copy was served after the origin said at \(gone) that it is gone")
        }
        let age = loaded.age ?? .zero
        if loaded.freshness == .fresh, age < .zero || age >= freshLimit {
            report("load \(number): fresh at an age of \(age.brief), but the limit is \(freshLimit.brief)")
        }
        if loaded.freshness == .stale, age >= servedLimit {
            report("load \(number): served at an age of \(age.brief), but the limit is \(servedLimit.brief)")
        }
    }

    /// Checks that the age of a copy is the age of an answer of the origin.
    private func checkAge(_ number: Int, _ loaded: Loaded<String>, _ key: Key, within length: Duration) {
        guard case .store = loaded.source, let age = loaded.age else { return }
        let isTrue = recorder.events(of: key).contains { event in
            let now = world.now - event.wall
            return event.text == loaded.value && age <= now && now - age <= length
        }
        if !isTrue { report("load \(number): age \(age.brief), but no answer has this age") }
    }
}

extension Part {
    /// Returns the value of a setting as a duration; `forever` if there is none.
    fileprivate func duration(_ name: String) -> Duration {
        text(of: name).flatMap { Duration(spelled: $0) } ?? .forever
    }

    /// Returns the value of a setting as a size in bytes, or nil if there is none.
    func size(_ name: String) -> Int? {
        text(of: name).flatMap { UnitNotation.size.amount($0) }.map { Int($0) }
    }

    /// Returns the value of a setting, as it is written or by default.
    func text(of name: String) -> String? {
        settings.first { $0.name == name }.map { String($0.text.trimmingPrefix("\"").prefix { $0 != "\"" }) }
    }
}
