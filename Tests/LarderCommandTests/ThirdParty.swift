import LarderFoundation
import Larder

/// Plugins as an app would write them, with public API only. Each has a setting of its own.
enum ThirdParty {
    static func registry() throws -> Registry {
        var registry = Registry.standard
        for plugin in [origin, wrapper, strategy, validator, store, eviction] { try registry.register(plugin) }
        return registry
    }

    static let plugins = [origin, wrapper, strategy, validator, store, eviction]

    static let origin = Plugin.origin(
        "warehouse", "What the warehouse says.",
        Setting("shelf", .choice(["upper", "lower"]), help: "Which shelf"),
        Setting("aisles", .list(of: .int(1...9), atLeast: 1), default: [1], help: "Where to look")
    ) { _, storeAccess, aisles in Warehouse(text: "\(storeAccess) \(aisles)") }

    static let wrapper = Plugin.wrapper(
        "politely", "Says please.",
        Setting("times", .int(1...3), default: 1, help: "How often")
    ) { _, inner, _ in Politely(inner: inner) }

    static let strategy = Plugin.strategy(
        "archive", "The copy, however old.",
        Setting("since", .duration(.seconds(60) ... .seconds(3_600)), default: .seconds(600), help: "From when on")
    ) { sides, _ in Archive(sides: sides) }

    static let validator = Plugin.validator(
        "small", "Lets only small payloads in.",
        Setting("most", .size, default: 100_000, help: "The largest payload")
    ) { _, most in MaxSize(most: most) }

    static let store = Plugin.store(
        "mirror", "Another store, seen from behind.",
        Setting("of", .part(.store), help: "The store"),
        Setting("silvered", .flag, default: true, help: "Whether it shines")
    ) { context, part, _ in try part.store(in: context) }

    static let eviction = Plugin.eviction(
        "never", "Forgets nothing.", Setting("really", .share, default: 1, help: "How sure")
    ) { _ in Never() }

    private struct Warehouse: Loader {
        let text: String
        func load(_ call: Call) async throws -> Loaded<Entry> { Loaded(Entry(Data(text.utf8))) }
    }

    /// Its text equals that of other events.
    private struct Politely: Loader {
        let inner: any Loader
        func load(_ call: Call) async throws -> Loaded<Entry> {
            call.trail.note("politely", Trail.Event("please", "stale copy, allowed by you"))
            call.trail.note("origin", Trail.Event("thanks", "timed out after all"))
            return try await inner.load(call)
        }
    }

    private struct Archive: Loader {
        let sides: Sides
        func load(_ call: Call) async throws -> Loaded<Entry> {
            if let copy = try await sides.copy(call)?.shown(for: .showing) { return copy }
            return try await sides.load(call)
        }
    }

    private struct MaxSize: Validator {
        let most: Int
        func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
            if entry.payload.bytes.count > most { throw Refusal("larger than \(most) bytes") }
            return .keep
        }
    }

    private struct Never: Eviction {
        mutating func inserted(_ place: Int, hash: Int, weight: Int) {}
        mutating func used(_ place: Int) {}
        mutating func removed(_ place: Int) {}
        mutating func evict() -> Int? { nil }
    }
}
