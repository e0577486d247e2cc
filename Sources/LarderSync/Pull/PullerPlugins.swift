public import Larder
import LarderSystem

extension PluginKind {
    /// A way to ask a service for records.
    public static let puller = PluginKind("puller")
}

/// The settings of every puller.
struct PullTimes {
    let limit = Setting("limit", .int(1...100_000), default: 200, help: "The most records of a page")
    let every = Setting(
        "every", .duration(.seconds(1) ... .forever), default: .seconds(3_600),
        help: "How often the service is asked while there is a network; records count as fresh until then")
    let full = Setting(
        "full", optional: .duration(.seconds(1) ... .forever),
        help: "How often everything is fetched, so that deletions are seen which the service does not tell")
}

/// A puller, and when it is asked.
struct PullPlan: Sendable {
    let puller: any Puller
    let limit: Int
    let every: Duration
    let full: Duration?

    init(_ puller: any Puller, _ times: SettingValues<PullTimes>) {
        (self.puller, limit, every, full) = (puller, times.limit, times.every, times.full)
    }
}

extension Plugin {
    /// A way to ask a service for records. It has the settings `limit`, `every` and `full`.
    ///
    /// - Parameters:
    ///   - name: the name that policies use.
    ///   - about: its purpose, in one line.
    ///   - settings: further settings.
    ///   - facts: returns the facts about the puller, by which `larder check` finds mistakes.
    ///   - make: makes the puller from their values.
    public static func puller<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        facts: @escaping @Sendable (repeat each Value) -> PullFacts = { (_: repeat each Value) in PullFacts() },
        make: @escaping @Sendable (Context, repeat each Value) throws -> any Puller
    ) -> Plugin {
        .custom(
            .puller, name, about, .group(PullTimes()), repeat each settings,
            traits: { (times: SettingValues<PullTimes>, values: repeat each Value) in
                var facts = facts(repeat each values)
                (facts.every, facts.full) = (times.every, times.full)
                return facts.traits
            }
        ) {
            (context: Context, times: SettingValues<PullTimes>, values: repeat each Value) in
            PullPlan(try make(context, repeat each values), times)
        }
    }

    /// A way to ask a service for records, as a function.
    ///
    /// - Parameters:
    ///   - name: the name that policies use.
    ///   - about: its purpose, in one line.
    ///   - page: returns a page: see ``Puller/page(_:)``.
    public static func puller(
        _ name: String, _ about: String, _ page: @escaping @Sendable (PullQuestion) async throws -> PullPage
    ) -> Plugin { .puller(name, about, facts: { PullFacts(calls: nil) }) { _ in PullingFunction(body: page) } }
}

private struct PullingFunction: Puller {
    let body: @Sendable (PullQuestion) async throws -> PullPage

    func page(_ question: PullQuestion) async throws -> PullPage { try await body(question) }
}
