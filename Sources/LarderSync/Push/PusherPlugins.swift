public import Larder

extension PluginKind {
    /// A way to send changes of records to a service.
    public static let pusher = PluginKind("pusher")
}

/// The settings of every pusher.
struct PushTimes {
    let every = Setting(
        "every", .duration(.zero ... .forever), default: .zero,
        help: "The shortest time between two runs that send what users change, so that more goes at once")
}

/// A pusher, and when it is asked.
struct PushPlan: Sendable {
    let pusher: any Pusher
    let every: Duration

    init(_ pusher: any Pusher, every: Duration = .zero) { (self.pusher, self.every) = (pusher, every) }
}

extension Plugin {
    /// A way to send changes of records to a service. It has the setting `every`.
    ///
    /// - Parameters:
    ///   - name: the name that policies use.
    ///   - about: its purpose, in one line.
    ///   - settings: further settings.
    ///   - facts: returns the facts about the pusher, by which `larder check` finds mistakes.
    ///   - make: makes the pusher from their values.
    public static func pusher<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        facts: @escaping @Sendable (repeat each Value) -> PushFacts = { (_: repeat each Value) in PushFacts() },
        make: @escaping @Sendable (Context, repeat each Value) throws -> any Pusher
    ) -> Plugin {
        .custom(
            .pusher, name, about, .group(PushTimes()), repeat each settings,
            traits: { (_: SettingValues<PushTimes>, values: repeat each Value) in facts(repeat each values).traits }
        ) {
            (context: Context, times: SettingValues<PushTimes>, values: repeat each Value) in
            PushPlan(try make(context, repeat each values), every: times.every)
        }
    }

    /// A way to send changes of records to a service, as a function.
    ///
    /// - Parameters:
    ///   - name: the name that policies use.
    ///   - about: its purpose, in one line.
    ///   - most: the most changes of one call.
    ///   - push: sends changes: see ``Pusher/push(_:by:)``.
    public static func pusher(
        _ name: String, _ about: String, most: Int,
        _ push: @escaping @Sendable ([PushedChange], PushCall) async throws -> [WriteOutcome]
    ) -> Plugin {
        .pusher(name, about, facts: { PushFacts(calls: nil) }) { _ in PushingFunction(most: max(1, most), body: push) }
    }
}

private struct PushingFunction: Pusher {
    let most: Int
    let body: @Sendable ([PushedChange], PushCall) async throws -> [WriteOutcome]

    func push(_ changes: [PushedChange], by call: PushCall) async throws -> [WriteOutcome] {
        try await body(changes, call)
    }
}
