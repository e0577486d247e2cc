import LarderFoundation
import Larder
import Synchronization

// Sections, and a kind of plugin, as another module would write them.

/// A record of events, in order.
final class Journal: Sendable {
    private let state = Mutex<[String]>([])

    var events: [String] { state.withLock { $0 } }

    func note(_ event: String) { state.withLock { $0.append(event) } }
}

// MARK: A section of a policy

extension Counter {
    static let greetings = Counter("greetings", "People who were greeted")
}

extension Level {
    static let humour = Level("humour", "How it greets", values: ["kind", "gruff"])
}

/// The view that an app has of a section.
protocol Polite: Sendable {
    func greet(_ name: String) -> String
}

/// Greets people for an app.
final class Greeter: Attachment, Polite {
    let text: String
    private let context: Context
    private let journal: Journal

    init(_ text: String, _ context: Context, _ journal: Journal) {
        self.text = text
        self.context = context
        self.journal = journal
        journal.note("made \(text)")
    }

    func greet(_ name: String) -> String {
        context.count(.greetings)
        context.set(.humour, to: text == "what" ? "gruff" : "kind")
        return "\(text), \(name)!"
    }

    func cleared(_ selection: Selection, discardingUnsent: Bool) async {
        if text == "deaf" { try? await context.world.sleep(for: .seconds(3_600)) }
        journal.note("\(text) cleared \(selection)" + (discardingUnsent ? ", also what is not sent" : ""))
    }

    func close() async { journal.note("closed \(text)") }
}

/// Sees each load.
struct Doorman: Attachment {
    private struct Door: Loader {
        let inner: any Loader
        let journal: Journal
        let name: String

        func load(_ call: Call) async throws -> Loaded<Entry> {
            journal.note("\(name) in")
            defer { journal.note("\(name) out") }
            return try await inner.load(call)
        }
    }

    let name: String
    let journal: Journal

    func around(_ loader: any Loader) -> any Loader { Door(inner: loader, journal: journal, name: name) }
}

extension Plugin {
    static func greetingSection(_ journal: Journal = Journal()) -> Plugin {
        .section(
            "greeting", "Greets people.",
            Setting("text", .text, default: "hello", help: "What it says"),
            Setting("times", .int(1...3), default: 1, help: "How often it says so"),
            counters: [.greetings], levels: [.humour]
        ) { context, text, _ in Greeter(text, context, journal) }
    }

    static func doorman(_ name: String, _ journal: Journal = Journal(), goesAround: Bool = true) -> Plugin {
        .section(
            name, "Notes the loads.", Setting("polite", .flag, default: true, help: "Whether it bows"),
            traits: { _ in .with { $0.goesAround = goesAround } }
        ) { _, _ in Doorman(name: name, journal: journal) }
    }
}

/// Loads its resource again and again.
final class Schedule: Attachment {
    private let work: Task<Void, Never>

    init(every pause: Duration, _ context: SectionContext) {
        work = context.world.spawn {
            while (try? await context.world.sleep(for: pause)) != nil {
                _ = try? await context.ownResource?.load(mode: .refresh)
            }
        }
    }

    func close() async { work.cancel() }
}

extension Plugin {
    static let schedule = Plugin.section(
        "schedule", "Loads the resource again and again.",
        Setting("every", .duration, default: .seconds(900), help: "How often")
    ) { context, every in Schedule(every: every, context) }
}

// MARK: A section that changes loads

extension Plugin {
    /// A section for ships: no prefetches, and copies in the place of forced refreshes.
    static let aboard = Plugin.section(
        "aboard", "Spares the satellite of a ship.",
        traits: { .with { ($0.goesAround, $0.limitsBackgroundWork) = (true, true) } }
    ) { context in Aboard(world: context.world) }
}

private struct Aboard: Attachment {
    private struct Sparing: Loader {
        let inner: any Loader
        let world: any World

        func load(_ call: Call) async throws -> Loaded<Entry> {
            var call = call
            if call.request.mode == .refresh, Aboard.isAtSea(world.network) { call.request.mode = .normal }
            return try await inner.load(call)
        }
    }

    let world: any World

    func around(_ loader: any Loader) -> any Loader { Sparing(inner: loader, world: world) }

    func permits(_ work: BackgroundWork, on network: NetworkState) -> Bool {
        work != .prefetch || !Self.isAtSea(network)
    }

    private static func isAtSea(_ network: NetworkState) -> Bool { network.kind == .other }
}

// MARK: A section of the pantry

/// A number of calls that several resources share.
final class Quota: Attachment {
    private let left: Mutex<Int>
    private let most: Int
    private let journal: Journal

    init(most: Int, _ journal: Journal) {
        left = Mutex(most)
        self.most = most
        self.journal = journal
    }

    /// Takes one call.
    func take() throws {
        let isLeft = left.withLock { left in
            left -= 1
            return left >= 0
        }
        if !isLeft { throw LoadError(.failed, "the quota of \(most) is used up") }
    }

    func cleared(_ selection: Selection, discardingUnsent: Bool) async {
        journal.note("quota \(most) cleared \(selection)")
    }
    func close() async { journal.note("closed quota \(most)") }
}

/// Takes a call of the quota before each call.
private struct Metered: Loader {
    let inner: any Loader
    let context: Context

    func load(_ call: Call) async throws -> Loaded<Entry> {
        try context.attachment(Quota.self)?.take()
        return try await inner.load(call)
    }
}

extension Plugin {
    static func quota(_ journal: Journal = Journal()) -> Plugin {
        .pantrySection(
            "quota", "Limits the calls of all resources together.",
            Setting("most", .int(0...1_000), help: "How many calls there may be")
        ) { _, most in Quota(most: most, journal) }
    }

    static let metered = Plugin.wrapper("metered", "Takes a call of the quota before each call.") { context, inner in
        Metered(inner: inner, context: context)
    }
}

// MARK: A kind of plugin

extension PluginKind {
    static let notary = PluginKind("notary")
}

/// Signs calls.
protocol Notary: Sendable {
    func signature(of text: String) -> String
}

private struct Stamp: Notary {
    let mark: String

    func signature(of text: String) -> String { text + mark }
}

private struct SignedOrigin: Loader {
    let notary: any Notary

    func load(_ call: Call) async throws -> Loaded<Entry> { Loaded(Entry(Data(notary.signature(of: "call").utf8))) }
}

extension Plugin {
    static let stamp = Plugin.custom(
        .notary, "stamp", "Signs calls with a mark.",
        Setting("mark", .text, default: "+", help: "What is added")
    ) { _, mark in Stamp(mark: mark) }

    /// A plugin of the same kind that makes no notary.
    static let fake = Plugin.custom(.notary, "fake", "Signs nothing.") { _ in "no notary" }

    static let signed = Plugin.origin(
        "signed", "Answers with the signature.",
        Setting("sign", .part(.notary), help: "Who signs the calls")
    ) { context, sign in SignedOrigin(notary: try sign.make((any Notary).self, in: context)) }
}
