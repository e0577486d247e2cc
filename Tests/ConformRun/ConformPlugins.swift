import Larder
import LarderSystem

/// The plugins that only the policies of rows name. They are made as an app's own plugins are.
enum ConformPlugins {
    static var all: [Plugin] { [.oldest, .lifetime, .ageLimit, .whole, .keyRest] }
}

extension Plugin {
    /// Eviction by stored time.
    fileprivate static let oldest = Plugin.eviction("oldest", "Evicts the entry that was stored first.") { Oldest() }

    /// A validator of the age of copies that can each have a lifetime of their own.
    fileprivate static let lifetime = Plugin.validator(
        "lifetime", "Sets how long a copy is fresh, unless the copy has a lifetime of its own.",
        Setting("fresh", .duration, help: "How long a copy without a lifetime of its own is fresh"),
        Setting("jitter", .duration, default: .zero, help: "How much longer a copy can be fresh, at random"),
        Setting(
            "whileRevalidating", .duration, default: .zero,
            help: "How long after that it may be served while a refresh runs"),
        Setting(
            "maxAge", .duration, default: .zero, help: "The age up to which it may be served when the origin fails"),
        Setting("refreshAge", .duration, default: .forever, help: "The age at which it is refreshed ahead of time"),
        traits: { _, _, whileRevalidating, maxAge, _ in
            .with { $0.showsStaleFor = max(whileRevalidating, maxAge) }
        }
    ) { _, fresh, jitter, whileRevalidating, maxAge, refreshAge in
        Lifetime(
            fresh: fresh.nanoseconds, jitter: jitter, whileRevalidating: whileRevalidating.nanoseconds,
            maxAge: maxAge.nanoseconds, refreshAge: refreshAge.nanoseconds)
    }

    /// A validator of the age up to which a copy stands in for a failed call.
    fileprivate static let ageLimit = Plugin.validator(
        "ageLimit", "Shows no copy after a failed call that is too old.",
        Setting("maxAge", .duration, help: "The age up to which it may be served when the origin fails")
    ) { _, maxAge in AgeLimit(maxAge: maxAge.nanoseconds) }

    /// A validator that lets only answers with the status 200 be kept.
    fileprivate static let whole = Plugin.validator("whole", "Keeps no answer whose status is not 200.") { _ in Whole()
    }

    /// A wrapper that leaves the origin alone for a key after a failed call.
    fileprivate static let keyRest = Plugin.wrapper(
        "key-rest", "Refuses calls for a key for some time after one failed.",
        Setting("rest", .duration, help: "How long calls are refused")
    ) { context, inner, rest in KeyRest(inner: inner, rest: rest, world: context.world) }
}

/// An eviction that evicts the entry whose payload was stored first. Uses do not matter.
private struct Oldest: Eviction {
    private var order: [Int] = []

    mutating func inserted(_ place: Int, hash: Int, weight: Int) { order.append(place) }

    mutating func used(_ place: Int) {}

    mutating func changed(_ place: Int, weight: Int) {
        guard order.contains(place) else { return }
        removed(place)
        order.append(place)
    }

    mutating func removed(_ place: Int) { order.removeAll { $0 == place } }

    mutating func evict() -> Int? { order.isEmpty ? nil : order.removeFirst() }
}

extension NoteKey where Value == Int {
    /// The lifetime of a copy in nanoseconds, if it has one of its own.
    static var lifetime: NoteKey { NoteKey("larder.conform.lifetime") }
}

/// A validator that permits uses by age. A copy's own lifetime counts in place of the usual one.
private struct Lifetime: Validator {
    let fresh: Int64
    let jitter: Duration
    let whileRevalidating: Int64
    let maxAge: Int64
    let refreshAge: Int64

    func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
        let own = metadata[.lifetime].map { Int64($0) } ?? fresh
        let limit = own.addingCapped(jitter.scaled(by: 1 - metadata.spread).nanoseconds)
        let age = metadata.ageInNanoseconds(at: now)
        if age >= 0, age < limit {
            var permissions = Permissions(.all)
            // Copies are refreshed ahead when the whole of this time is over.
            permissions.freshNanoseconds = min(limit, refreshAge)
            return permissions
        }
        var permissions = Permissions(.all).refusing(.fresh, "its lifetime is over")
        if max(age, 0) >= limit.addingCapped(whileRevalidating), whileRevalidating != .max {
            permissions = permissions.refusing(.whileRevalidating, "its window is over")
        }
        if max(age, 0) >= maxAge, maxAge != .max { permissions = permissions.refusing(.onError, "it is too old") }
        return permissions
    }
}

/// A validator of the age up to which a copy stands in for a failed call.
private struct AgeLimit: Validator {
    let maxAge: Int64

    func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
        metadata.ageInNanoseconds(at: now) < maxAge
            ? Permissions(.all) : Permissions(.all).refusing(.onError, "it is too old")
    }
}

/// A validator that lets only answers with the status 200 be kept.
private struct Whole: Validator {
    func admit(
        _ entry: inout Entry, from arrival: Arrival, for request: Request
    ) throws(Refusal) -> Admission {
        (entry.metadata.status ?? 200) == 200 ? .keep : .useOnly
    }
}

extension Int64 {
    fileprivate func addingCapped(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

/// A loader that refuses calls for a key for some time after one of them failed.
private struct KeyRest: Loader {
    let inner: any Loader
    let rest: Duration
    let world: any World
    private let ends = Locked<[Key: Duration]>([:])

    init(inner: any Loader, rest: Duration, world: any World) {
        self.inner = inner
        self.rest = rest
        self.world = world
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if let end = ends.withLock({ $0[call.key] }), world.uptime < end {
            throw LoadError(.unavailable, "the origin is left alone for this key")
        }
        do {
            return try await inner.load(call)
        } catch {
            if LoadError.meaning(of: error)?.isAnswer == false {
                ends.withLock { $0[call.key] = world.uptime + rest }
            }
            throw error
        }
    }
}
