#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

extension Command.Option {
    static let policies = Command.Option("policies", "DIR", "The folder of policies (default: Policies)")
    static let cache = Command.Option("cache", "DIR", "Where stores keep their files (default: the user's caches)")
}

extension Arguments {
    var policies: URL { URL(filePath: value(of: "policies") ?? "Policies", directoryHint: .isDirectory) }
    var cache: URL? { value(of: "cache").map { URL(filePath: $0, directoryHint: .isDirectory) } }
}

extension Command {
    static let load = Command(
        name: "load", summary: "Loads one instance of a resource, as its policy says.",
        operands: "RESOURCE [NAME=VALUE …]",
        details: """
            The payload goes to the output, everything else to the error output. Stores are the real ones: what one run
            saves, the next one finds.
            """,
        options: [
            .policies, .cache,
            Option("scope", "NAME", "Whose copy: an account"),
            Option("refresh", nil, "Ask the origin now, whatever the strategy"),
            Option("cached-only", nil, "Never ask the origin"),
            Option("deadline", "DURATION", "Wait for the origin no longer than this, such as 500ms"),
            Option("repeat", "N", "Load N times, one after the other"),
            Option("watch", nil, "Keep loading, follow changes of the policies, and say when one was swapped"),
            Option("every", "DURATION", "How long to wait between two loads while watching (default: 1s)"),
            Option("record", "FILE", "Add a line for each load to this file, for 'larder simulate --trace'"),
            Option("trail", nil, "Show the decisions that led to the value"),
        ],
        run: { arguments, registry, terminal in
            let isWatching = arguments.has("watch")
            let times = try arguments.number(of: "repeat", in: 1...1_000_000, default: isWatching ? .max : 1)
            let every = try arguments.duration(of: "every")
            if every != nil, !isWatching { throw UsageError(message: "--every goes with --watch") }
            let pause = every ?? .seconds(1)
            let (name, request) = try request(arguments)
            let reader = PolicyReader(
                registry: registry, folder: arguments.policies.shortPath, environment: arguments.environment)
            // A single load leaves the dumps alone that a longer run writes.
            let pantry = try await Pantry(
                reader: isWatching ? reader : reader.withoutProcess, cache: arguments.cache, world: SystemWorld())
            for warning in pantry.warnings { terminal.note(warning.description) }
            // While it watches, the events tell them.
            if !isWatching { for problem in pantry.cacheProblems { terminal.note(problem.description) } }
            let resource = pantry.resource(name)
            let recording = try arguments.value(of: "record").map { try pantry.record(to: URL(filePath: $0)) }
            // When it is interrupted, everything is written before the signal ends the process.
            let closing = pantry.closeOnSignals { await recording?.stop() }
            defer { closing.stop() }
            var isWhole = true
            if isWatching {
                isWhole = await watch(request, resource, pantry, times, pause, arguments.has("trail"), terminal)
            } else {
                for _ in 0..<times
                where await !load(request, from: resource, times > 1, arguments.has("trail"), terminal) {
                    isWhole = false
                }
            }
            await recording?.stop()
            await pantry.close()
            if let lost = recording?.lost, lost > 0 {
                terminal.complain("\(lost) loads could not be recorded")
                return false
            }
            return isWhole
        })

    private static func request(_ arguments: Arguments) throws(UsageError) -> (String, Request) {
        guard let name = arguments.operands.first else { throw UsageError(message: "which resource?") }
        var parameters: [String: String] = [:]
        for operand in arguments.operands.dropFirst() {
            let parts = operand.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw UsageError(message: "a parameter is written NAME=VALUE")
            }
            let former = parameters.updateValue(String(parts[1]), forKey: String(parts[0]))
            if former != nil { throw UsageError(message: "a parameter is given twice") }
        }
        if arguments.has("refresh"), arguments.has("cached-only") {
            throw UsageError(message: "--refresh and --cached-only exclude each other")
        }
        let mode: Request.Mode =
            arguments.has("refresh") ? .refresh : arguments.has("cached-only") ? .cachedOnly : .normal
        let deadline = try arguments.duration(of: "deadline")
        return (name, Request(name, parameters, scope: arguments.value(of: "scope"), mode: mode, deadline: deadline))
    }

    /// Loads again and again, until it was often enough or somebody interrupts it; shows the payload when it is another,
    /// and says what happens to the policies.
    private static func watch(
        _ request: Request, _ resource: Resource<Data>, _ pantry: Pantry, _ times: Int, _ pause: Duration,
        _ showsTrail: Bool, _ terminal: Terminal
    ) async -> Bool {
        let world = SystemWorld()
        let events = pantry.events
        let telling = world.spawn {
            for await event in events { tell(event, of: resource.name, pantry, terminal) }
        }
        let watch = pantry.watch()
        let isWhole = Locked(true)
        let loads = world.spawn {
            var last: Data?
            for turn in 0..<times {
                if turn > 0, (try? await world.sleep(for: pause)) == nil { return }
                do {
                    let loaded = try await resource.load(request)
                    show(loaded, showsTrail, terminal)
                    if loaded.value != last { terminal.write(loaded.value + Data("\n".utf8)) }
                    last = loaded.value
                    isWhole.withLock { $0 = true }
                } catch is CancellationError {
                    return
                } catch {
                    tell(error, of: resource.name, showsTrail, terminal)
                    isWhole.withLock { $0 = false }
                }
            }
        }
        await loads.value
        watch.stop()
        telling.cancel()
        return isWhole.withLock { $0 }
    }

    private static func tell(_ event: PantryEvent, of resource: String, _ pantry: Pantry, _ terminal: Terminal) {
        switch event {
        case .reloaded(let changes):
            for change in changes { terminal.note("policy swapped: \(change)") }
            for warning in pantry.warnings { terminal.note(warning.description) }
        case .rejected(let error):
            terminal.note("new policies refused, the last good ones stay:")
            for problem in error.problems { terminal.note("  \(problem)") }
        case .interrupted(let note): terminal.note(note)
        case .cacheUnusable(let problem): terminal.note("\(problem)")
        case .cacheUsable(let problem): terminal.note("usable again: \(problem.part)")
        }
    }

    private static func load(
        _ request: Request, from resource: Resource<Data>, _ isRepeated: Bool, _ showsTrail: Bool, _ terminal: Terminal
    ) async -> Bool {
        do {
            let loaded = try await resource.load(request)
            if showsTrail { show(loaded, true, terminal) }
            terminal.write(loaded.value)
            let endsLine = loaded.value.last == UInt8(ascii: "\n")
            if !endsLine, isRepeated || terminal.isInteractive { terminal.print("") }
            return true
        } catch {
            tell(error, of: resource.name, showsTrail, terminal)
            return false
        }
    }

    private static func tell(_ error: any Error, of resource: String, _ showsTrail: Bool, _ terminal: Terminal) {
        let failure = error as? LoadError
        if showsTrail { for line in failure?.trail.lines ?? [] { terminal.note("  " + line) } }
        terminal.complain("\(resource): \(failure?.description ?? "\(error)")")
        if let fault = failure?.store {
            terminal.complain("\(resource): its store: \(StoreFault(tier: "store", error: fault))")
        }
    }

    private static func show(_ loaded: Loaded<Data>, _ showsTrail: Bool, _ terminal: Terminal) {
        if showsTrail { for line in loaded.trail.lines { terminal.note("  " + line) } }
        let age = loaded.age.map { ", \($0.brief) old" } ?? ", of unknown age"
        let kept = loaded.isStored ? "stored" : "not stored"
        let revision = loaded.trail.revision.map { " (revision \($0))" } ?? ""
        terminal.note("\(loaded.freshness.rawValue) from \(loaded.source)\(age), \(kept)\(revision)")
    }
}
