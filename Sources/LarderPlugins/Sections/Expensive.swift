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
        traits: { refresh, prefetch in
            Traits().with {
                $0.permitsBackground = { work, network in
                    switch work {
                    case .refresh: refresh || !network.isCostly
                    case .prefetch: prefetch || !network.isCostly
                    }
                }
            }
        }
    ) { _, _, _ in DataSaver() }
}

/// The attachment of the section. Its rules are traits, so it has nothing to do.
private struct DataSaver: Attachment {}
