import LarderFoundation
import Larder

// One plugin of each kind, as an app or another package would write it. This target has no access to anything of
// Larder that is not public.

// MARK: Origin

/// An origin that greets a person by name.
struct Greeting: Loader {
    let word: String
    let times: Int

    func load(_ call: Call) async throws -> Loaded<Entry> {
        guard let name = call.request.parameters["name"] else { throw LoadError.answer(status: 404, "nobody is there") }
        let text = Array(repeating: "\(word), \(name)!", count: times).joined(separator: " ")
        return Loaded(Entry(Data(text.utf8), Metadata(contentType: "text/plain")))
    }
}

extension Plugin {
    static let greeting = Plugin.origin(
        "greeting", "Greets people by name.",
        Setting("word", .choice(["hello", "welcome"]), default: "hello", help: "How it greets"),
        Setting("times", .int(1...3), help: "How often it says so")
    ) { _, word, times in Greeting(word: word, times: times) }
}

// MARK: Wrapper

/// A wrapper that delays a share of all calls.
struct Dawdle: Loader {
    let inner: any Loader
    let share: Double
    let wait: Duration
    let world: any World

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if world.chance() < share {
            call.trail.note("dawdle", .dawdling(for: wait, share))
            try await world.sleep(for: wait)
        }
        return try await inner.load(call)
    }
}

extension Trail.Event.Kind {
    static let dawdling: Self = "dawdling"
}

extension Trail.Fact<String> {
    static var share: Self { "share" }
}

extension Trail.Event {
    fileprivate static func dawdling(for wait: Duration, _ share: Double) -> Self {
        Self(.dawdling, "waits \(.wait, wait), as \(.share, "\(Int(share * 100))%") of all calls do")
    }
}

extension Plugin {
    static let dawdle = Plugin.wrapper(
        "dawdle", "Lets a share of all calls wait.",
        Setting("share", .share, default: 1, help: "How many of them"),
        Setting("wait", .duration(.milliseconds(1) ... .seconds(60)), help: "How long")
    ) { context, inner, share, wait in Dawdle(inner: inner, share: share, wait: wait, world: context.world) }
}

// MARK: Strategy

/// A strategy that serves a fresh copy, or a stale one while it is refreshed, and calls the origin if there is none.
struct CopyIfAny: Loader {
    let sides: Sides
    let refreshes: Bool
    let patience: Duration?

    func load(_ call: Call) async throws -> Loaded<Entry> {
        guard let copy = try await sides.copy(call)?.shown(for: [.fresh, .whileRevalidating]) else {
            return try await sides.load(call, patience: patience)
        }
        if refreshes, copy.freshness == .stale { sides.refresh(call) }
        return copy
    }
}

extension Plugin {
    static let copyIfAny = Plugin.strategy(
        "copy-if-any", "Shows a copy at once while its windows last; asks the origin when there is none.",
        Setting("refreshes", .flag, default: true, help: "Whether a stale copy is refreshed behind it"), .patience
    ) { sides, refreshes, patience in CopyIfAny(sides: sides, refreshes: refreshes, patience: patience) }
}

// MARK: Validator

/// A validator that refuses payloads of other media types, and permits no copies at some hours.
struct MediaType: Validator {
    let allowed: [String]

    func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
        guard let type = entry.metadata.contentType, allowed.contains(type) else { throw Refusal("of the wrong type") }
        return .keep
    }

    func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
        metadata.tags.contains("withdrawn") ? Permissions(.all).refusing(.showing, "withdrawn") : Permissions(.all)
    }
}

extension Plugin {
    static let mediaType = Plugin.validator(
        "media-type", "Admits payloads of certain types only.",
        Setting("allowed", .list(of: .text, atLeast: 1), help: "The types")
    ) { _, allowed in MediaType(allowed: allowed) }
}

// MARK: Store

/// A store with room for a few entries of limited size.
actor Drawer: Store {
    private var entries: [Key: Entry] = [:]
    private let room: Int
    private let largest: Int

    init(room: Int, largest: Int) {
        self.room = room
        self.largest = largest
    }

    func read(_ reading: Reading) -> Found? {
        entries[reading.key].map { Found($0, tier: "drawer", isForeign: false) }
    }

    func write(_ entry: Entry, for key: Key) -> Bool {
        guard entry.payload.bytes.count <= largest, entries[key] != nil || entries.count < room else { return false }
        entries[key] = entry
        return true
    }

    func remove(_ selection: Selection) {
        entries = entries.filter { !selection.contains($0.key, $0.value) }
    }

    func statistics() -> StoreStatistics { StoreStatistics(entries: entries.count) }
}

extension Plugin {
    static let drawer = Plugin.store(
        "drawer", "A drawer with room for a few entries.",
        Setting("room", .int(1...1_000), default: 100, help: "How many"),
        Setting("largest", .size, default: 64_000, help: "How large each may be")
    ) { _, room, largest in Drawer(room: room, largest: largest) }
}

// MARK: Eviction

/// An eviction that evicts the oldest entry first.
struct FirstOut: Eviction {
    private var places: [Int] = []

    mutating func inserted(_ place: Int, hash: Int, weight: Int) { places.append(place) }
    mutating func used(_ place: Int) {}
    mutating func removed(_ place: Int) { places.removeAll { $0 == place } }
    mutating func evict() -> Int? { places.isEmpty ? nil : places.removeFirst() }
}

extension Plugin {
    static let firstOut = Plugin.eviction("first-out", "Forgets what came first.") { FirstOut() }
}
