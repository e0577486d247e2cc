import Larder

/// The channels in a report, to which one process after the other is added.
struct EditionSums {
    private var channels: [String: ChannelFigures] = [:]
    /// The installations that were counted.
    private var counted: Set<String> = []

    /// The largest number of channels that are kept apart. A dump may name any.
    private static let mostChannels = 16

    /// Adds a process, if its policies can come from a channel.
    ///
    /// - Parameter isRunning: whether it says what its installation runs. Other processes count for loads only.
    mutating func add(_ history: DumpHistory, of run: DumpRun, isRunning: Bool) {
        guard let dump = history.latest, dump.supply["running"] != nil else { return }
        var name = (dump.supply["channel"] ?? "").inBrief
        if channels[name] == nil, channels.count >= Self.mostChannels { name = .other }
        let unit = run.identity.installation ?? run.instance
        let isCounted = isRunning && counted.insert(unit).inserted
        if isCounted { channels[name, default: ChannelFigures(name: name)].count(dump.supply) }
        channels[name, default: ChannelFigures(name: name)].policies.add(dump, history, of: unit)
    }

    /// The channels in the order of their names.
    var figures: [ChannelFigures] { channels.sorted { $0.key < $1.key }.map(\.value.compared) }
}
