import LarderSystem
public import LarderCore

extension Counter {
    /// The number of scheduled refreshes that were due, whether they ran or were missed.
    public static let scheduledDue = Counter("scheduled_due", "Scheduled refreshes that were due")
    /// The number of scheduled refreshes that ran to their end, in vain or not.
    public static let scheduledRun = Counter("scheduled_run", "Scheduled refreshes that ran")
    /// The number of scheduled refreshes that were missed: nothing ran, or it was cancelled.
    public static let scheduledMissed = Counter(
        "scheduled_missed", "Scheduled refreshes that were missed or cancelled")
    /// The number of scheduled refreshes that ran in vain. They are among those that ran.
    public static let scheduledFailed = Counter("scheduled_failed", "Scheduled refreshes that ran and failed")
}

extension Decision.Kind {
    /// A scheduled refresh failed.
    static let schedule = Decision.Kind(rawValue: "schedule")
}

extension Plugin {
    /// A section that refreshes the resource again and again.
    static let refreshSection = Plugin.section(
        "refresh", "Refreshes the resource again and again in the background.",
        Setting(
            "every", .duration(.seconds(30) ... .seconds(366 * 86_400)),
            help: "The shortest time between the starts of two refreshes"
        ).calledEvery(),
        Setting(
            "when", .choice(NetworkCondition.allCases.map(\.rawValue)), default: NetworkCondition.online.rawValue,
            help:
                "The network that a refresh waits for: any state, any network, or one that does not cost by use"),
        Setting(
            "requests", .list(of: .parameters, atLeast: 1), default: [[:]],
            help:
                "The parameters of each request that is refreshed, as in [{ \"page\": \"1\" }] (default: one request without parameters)"
        ),
        counters: [.scheduledDue, .scheduledRun, .scheduledMissed, .scheduledFailed],
        traits: { _, _, requests in .with { $0.requests = requests } }
    ) { context, every, when, requests in
        let times = RefreshTimes(every: every)
        return RefreshSchedule(
            RefreshPlanFile(place: try context.place("schedule"), times: times),
            when: NetworkCondition(rawValue: when) ?? .online, requests: requests, context)
    }
}
