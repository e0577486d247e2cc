import LarderFoundation
package import LarderSystem
import Larder

/// The last known state of all processes whose dumps are followed, and what has happened to them.
package struct TopState {
    /// A state of one process, from one dump.
    struct Process {
        var name: String
        /// The installation and the program. A process that begins after the last dump of another one replaces it.
        var identity: DumpRun.Identity
        var number: Int
        var started: Timestamp
        var written: Timestamp
        var resources: [Resource]
        var unusable: [UnusablePart]
        var logLost: Int
        /// Whether it was reported that no dump comes any more.
        var isSilent = false
    }

    /// A state of one resource in one process.
    struct Resource {
        var name: String
        /// The revisions in effect, with their strategies.
        var policy: String
        var minute = ResourceMetrics()
        var inFlight: Int
        var store: StoreStatistics
        var levels: [Level: String]
        var gauges: [Gauge: Double]
        var faults: UInt64 = 0
        var damaged: UInt64 = 0
    }

    /// Something that happened between two dumps.
    package struct Event: Hashable {
        var at: Timestamp
        package var text: String
        /// Whether it is no failure.
        package var isHarmless = false
    }

    /// The sums of one resource over the processes that write dumps.
    struct Row {
        var name: String
        var minute = ResourceMetrics()
        var inFlight = 0
        var store = StoreStatistics()
        /// The number of processes at each value of a level.
        var levels: [Level: [String: Int]] = [:]
        /// The values of gauges, of all processes together.
        var gauges: [Gauge: Double] = [:]
    }

    /// The number of events that are kept.
    static let mostEvents = 200
    /// The time after which a process that has written one dump only is silent.
    static let patience = Duration.seconds(180)
    /// The time without a dump after which a process has ended, if others write dumps.
    static let silence = Duration.seconds(3_600)

    package init() {}

    private var processes: [String: Process] = [:]
    package private(set) var events: [Event] = []
    /// The number of all events, also of those that are not kept any more.
    package private(set) var eventCount = 0
    /// Whether a first reading is over. What is found later is an event.
    private var isFollowing = false

    /// The processes, and those among them that write dumps.
    func count(at now: Timestamp) -> (all: Int, current: Int) {
        (processes.count, processes.values.count { $0.isCurrent(at: now) })
    }

    /// The time of the newest dump; nil if there is none.
    package var newest: Timestamp? { processes.values.map(\.written).max() }

    // MARK: Reading

    /// Takes the changes of the files. Returns whether there is anything new to show.
    package mutating func take(_ changes: [FollowedDumps.Change], at now: Timestamp) -> Bool {
        let before = eventCount
        var hasDump = false
        for change in changes {
            switch change {
            case .dump(let dump):
                if let fault = DumpClock(now: now).fault(of: dump.written) {
                    note(now, "a dump of \(dump.process.printable) is not counted: \(fault)")
                } else if take(dump) {
                    hasDump = true
                }
            case .unreadable(let file, let reason): note(now, "\(file.printable): \(reason); left out")
            case .deleted(let file): note(now, "\(file.printable) was deleted")
            case .foreign: break
            }
        }
        let foreign = changes.count { if case .foreign = $0 { true } else { false } }
        if foreign > 0 { note(now, DumpFile.skipped(foreign: foreign), isHarmless: true) }
        for (instance, process) in processes.sorted(by: { $0.key < $1.key })
        where !process.isSilent && !process.isCurrent(at: now) {
            processes[instance]?.isSilent = true
            if isFollowing { note(now, "\(process.name) has written no dump since \(process.written.clock)") }
        }
        dropEnded(at: now)
        isFollowing = true
        return hasDump || eventCount > before
    }

    private mutating func take(_ dump: MetricsDump) -> Bool {
        let next = Process(dump)
        let former = processes[dump.instance]
        if let former, (former.number, former.written) >= (next.number, next.written) { return false }
        // The last dump of a process that has ended may be renamed later on.
        if former == nil, processes.values.contains(where: { $0.replaces(next) }) { return false }
        processes[dump.instance] = next
        guard isFollowing else { return true }
        guard let former else {
            note(next.written, "\(next.name) began at \(next.started.clock)")
            return true
        }
        for text in next.changes(since: former) { note(next.written, text) }
        return true
    }

    /// Drops processes that have ended: another one of the same installation and program began since, or they wrote no dump
    /// for a long time while others did.
    private mutating func dropEnded(at now: Timestamp) {
        let isAnyCurrent = processes.values.contains { $0.isCurrent(at: now) }
        for (instance, process) in processes.sorted(by: { $0.key < $1.key }) {
            let isReplaced = processes.values.contains { $0.replaces(process) }
            let isGone = isAnyCurrent && !process.isCurrent(at: now) && now - process.written > Self.silence
            guard isReplaced || isGone else { continue }
            processes[instance] = nil
            if isFollowing { note(now, "\(process.name) has ended") }
        }
    }

    private mutating func note(_ at: Timestamp, _ text: String, isHarmless: Bool = false) {
        events.append(Event(at: at, text: text, isHarmless: isHarmless))
        eventCount += 1
        if events.count > Self.mostEvents { events.removeFirst(events.count - Self.mostEvents) }
    }

    // MARK: Showing

    /// The resources, sorted by name. Processes that write no dumps any more are left out, unless none does.
    func rows(at now: Timestamp) -> [Row] {
        let current = processes.values.filter { $0.isCurrent(at: now) }
        var rows: [String: Row] = [:]
        for process in current.isEmpty ? Array(processes.values) : current {
            for resource in process.resources {
                var row = rows[resource.name] ?? Row(name: resource.name)
                row.minute.merge(resource.minute)
                row.inFlight = row.inFlight.plus(resource.inFlight)
                row.store.entries = row.store.entries.plus(resource.store.entries)
                row.store.bytes = row.store.bytes.plus(resource.store.bytes)
                for (level, value) in resource.levels { row.levels[level, default: [:]][value, default: 0] += 1 }
                row.gauges.merge(resource.gauges)
                rows[resource.name] = row
            }
        }
        return rows.values.sorted { $0.name < $1.name }
    }
}

extension TopState.Row {
    /// The levels that are not at their usual value in every process, in words: `breaker open (2)`.
    var unusualLevels: [String] {
        levels.sorted { $0.key.name < $1.key.name }.flatMap { level, counts in
            level.values.dropFirst().compactMap { value in
                counts[value].map {
                    "\(level.name.words) \(value)" + (counts.values.reduce(0, +) > 1 ? " (\($0))" : "")
                }
            }
        }
    }
}
