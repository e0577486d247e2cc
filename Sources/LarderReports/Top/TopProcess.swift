import LarderSystem
import Larder

extension TopState.Process {
    init(_ dump: MetricsDump) {
        // Without a host, the beginning of the installation tells devices apart.
        name =
            dump.process.printable
            + (dump.host.map { " on " + $0.printable } ?? dump.installation.map { " " + String($0.prefix(6)).printable }
                ?? "")
        identity = DumpRun.Identity(installation: dump.installation, host: dump.host, process: dump.process)
        (number, started, written) = (dump.number, dump.started, dump.written)
        (unusable, logLost) = (dump.unusable, dump.logLost ?? 0)
        resources = dump.resources.map { resource in
            let current = resource.revisions.filter(\.isCurrent).map {
                [$0.name, $0.strategy].filter { !$0.isEmpty }.joined(separator: " ").printable
            }
            var own = TopState.Resource(
                name: resource.name, policy: current.joined(separator: ", "), inFlight: resource.inFlight,
                store: resource.store, levels: resource.levels, gauges: resource.gauges)
            for revision in resource.revisions {
                if let minute = revision.windows[.minute] { own.minute.merge(minute) }
                own.faults = revision.metrics.faults.values.reduce(own.faults) { $0.plus($1) }
                own.damaged = own.damaged.plus(revision.metrics[.corrupt])
            }
            return own
        }
    }

    /// Whether it is known on which device the process runs.
    private var isKnown: Bool { identity.installation != nil || identity.host != nil }

    /// Whether this process began after the last dump of another one of the same installation and program.
    func replaces(_ other: TopState.Process) -> Bool {
        isKnown && identity == other.identity && started >= other.written && written > other.written
    }

    /// Whether the process can be expected to be running: it is not much longer since its last dump than its dumps are
    /// apart.
    func isCurrent(at now: Timestamp) -> Bool {
        let apart = number > 0 ? (written - started) / number : .zero
        return now - written <= max(TopState.patience, apart * 3)
    }

    /// Returns what has happened since an earlier dump, in words.
    func changes(since former: TopState.Process) -> [String] {
        var texts: [String] = []
        for resource in resources {
            let name = resource.name.printable
            guard let old = former.resources.first(where: { $0.name == resource.name }) else {
                texts.append("\(name): is new")
                continue
            }
            if old.policy != resource.policy { texts.append("\(name): policy \(old.policy) → \(resource.policy)") }
            for (level, value) in resource.levels.sorted(by: { $0.key.name < $1.key.name }) {
                let before = old.levels[level] ?? level.values.first ?? ""
                if before != value { texts.append("\(name): \(level.name.words) \(before) → \(value)") }
            }
            if resource.faults > old.faults {
                texts.append("\(name): the store failed \(resource.faults - old.faults) ×")
            }
            if resource.damaged > old.damaged {
                texts.append("\(name): damaged copies removed: \(resource.damaged - old.damaged)")
            }
        }
        for part in unusable where !former.unusable.contains(part) { texts.append("\(part.title) cannot be used") }
        for part in former.unusable where !unusable.contains(part) { texts.append("\(part.title) works again") }
        if logLost > former.logLost { texts.append("the log lost lines: \(logLost - former.logLost)") }
        return texts
    }
}

extension UnusablePart {
    fileprivate var title: String { [resource, part].compactMap { $0?.printable }.joined(separator: ": ") }
}
