import LarderSystem
import LarderCore

extension Plugin {
    /// The section `expensive`: the work that waits for a better network.
    static let expensive = Plugin.section(
        "expensive",
        "Saves data on networks that cost by use, such as mobile ones, and where the user asked for it. Loads for which "
            + "a user waits always go on.",
        Setting(
            "refresh", .flag, default: true,
            help: "Whether copies are refreshed in the background; if not, refreshes wait for a better network"),
        Setting(
            "prefetch", .flag, default: true,
            help: "Whether values are fetched ahead; if not, prefetches wait for a better network"),
        traits: { _, _ in .with { $0.limitsBackgroundWork = true } }
    ) { _, refresh, prefetch in DataSaver(refreshes: refresh, prefetches: prefetch) }
}

/// Lets some work wait while the network costs by use.
private struct DataSaver: Attachment {
    let refreshes: Bool
    let prefetches: Bool

    func permits(_ work: BackgroundWork, on network: NetworkState) -> Bool {
        switch work {
        case .refresh: refreshes || !network.isCostly
        case .prefetch: prefetches || !network.isCostly
        }
    }
}
