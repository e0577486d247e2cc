import LarderFoundation
import LarderSystem
import Larder

extension Command {
    static let load = Command(
        name: "load", summary: "Loads one instance of a resource, as its policy says.",
        operands: "RESOURCE [NAME=VALUE …]",
        details: """
            RESOURCE is the name of a resource or the path of its policy file. NAME=VALUE is a parameter of the request.

            The payload is written to the output, everything else to the error output. With --json the output has the value,
            its source and its trail: one document for one load, a line for each of several.

            The stores are the real ones: a copy that one run saves is found by the next. With --repeat or --watch, the dumps
            and logs that _larder.json names are written too, and the editions of its channel are used and told.
            """,
        options: [
            .policies, .cache, .data, .json,
            Option("scope", value: "NAME", help: "The account that the request is for"),
            Option("refresh", help: "Ask the origin now, whatever the strategy"),
            Option("cached-only", help: "Never ask the origin"),
            Option("deadline", value: "DURATION", help: "The longest wait for the origin, such as 500ms"),
            Option("repeat", value: "N", help: "Load N times, one after the other"),
            Option("watch", help: "Load until interrupted, follow changes of the policies and report each"),
            Option("every", value: "DURATION", help: "The pause between two loads of --watch (default: 1s)"),
            Option(
                "record", value: "FILE", help: "Add a line for each load to this file, for 'larder simulate --trace'"),
            Option("trail", help: "Show the decisions that led to the value"),
        ],
        run: { arguments, registry, terminal in
            let isWatching = arguments.has("watch")
            let times = try arguments.number(of: "repeat", in: 1...1_000_000, default: isWatching ? .max : 1)
            let every = try arguments.duration(of: "every")
            if every != nil, !isWatching { throw UsageError(message: "--every goes with --watch") }
            let pause = every ?? .seconds(1)
            let (folder, request) = try request(arguments)
            let all = arguments.reader(registry, folder.shortPath)
            // With --watch, errors of the other policies are told too.
            let reader = isWatching ? all : all.needing(request.key.resource)
            // A single load leaves the dumps alone that a longer run writes.
            let isLong = isWatching || times > 1
            let pantry = try await Pantry(
                reader: isLong ? reader : reader.withoutProcess, cache: arguments.cache(for: folder),
                data: arguments.data(for: folder),
                world: SystemWorld())
            let warnings = isWatching ? pantry.warnings : pantry.warnings(of: request.key.resource)
            for warning in warnings { terminal.note(warning.description) }
            // With --watch, they are among the pantry's events.
            if !isWatching { for problem in pantry.cacheProblems { terminal.note(problem.description) } }
            let telling = terminal.tellStoreFaults(of: pantry, in: arguments.cache(for: folder))
            defer { telling.stop() }
            let editions =
                isLong ? terminal.tellEditions(of: pantry, isWatching: isWatching, in: SystemWorld()) : []
            let resource = pantry.resource(request.key.resource)
            let recording = try arguments.value(of: "record").map { try record(pantry, to: $0) }
            // When the process is interrupted, everything is written before the signal ends it.
            let closing = pantry.closeOnSignals { await recording?.stop() }
            defer { closing.stop() }
            let format: LoadOutput.Format = !arguments.has("json") ? .payload : times == 1 ? .document : .lines
            let output = LoadOutput(
                resource: resource.name, format: format, showsTrail: arguments.has("trail"), terminal: terminal)
            var isWhole = true
            if isWatching {
                isWhole = await watch(
                    request, resource: resource, pantry: pantry, times: times, pause: pause, output: output)
            } else {
                for _ in 0..<times where await !load(request, from: resource, isRepeated: times > 1, output: output) {
                    isWhole = false
                }
            }
            await recording?.stop()
            await pantry.close()
            for work in editions {
                work.cancel()
                await work.value
            }
            if let lost = recording?.lost, lost > 0 {
                terminal.complain("\(lost) loads could not be recorded")
                return false
            }
            return isWhole
        })

    private static func record(_ pantry: Pantry, to file: String) throws -> Recording {
        if let item = Disk.item(file), item.size > 0, !TraceFile.isTrace(file) {
            throw CommandFailure("\(file.printable): not a recording; it is left as it is")
        }
        do { return try pantry.record(to: URL(filePath: file)) } catch {
            throw CommandFailure("\(file.printable): the recording cannot be written: \(error)")
        }
    }

    private static func request(_ arguments: Arguments) throws(UsageError) -> (folder: URL, Request) {
        guard let operand = arguments.operands.first else { throw UsageError(message: "load takes a RESOURCE") }
        let (name, folder) = try arguments.resource(operand)
        var parameters: Parameters = [:]
        for operand in arguments.operands.dropFirst() {
            let parts = operand.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw UsageError(message: "a parameter is written NAME=VALUE")
            }
            let name = String(parts[0])
            guard parameters[name] == nil else { throw UsageError(message: "a parameter is given twice") }
            parameters[name] = String(parts[1])
        }
        if arguments.has("refresh"), arguments.has("cached-only") {
            throw UsageError(message: "--refresh and --cached-only exclude each other")
        }
        let mode: Request.Mode =
            arguments.has("refresh") ? .refresh : arguments.has("cached-only") ? .cachedOnly : .normal
        let deadline = try arguments.duration(of: "deadline")
        return (folder, Request(name, parameters, scope: try arguments.scope(), mode: mode, deadline: deadline))
    }

    /// Loads `times` times, or until interrupted, and reports changes of the policies. Without JSON, a payload is written
    /// only if it differs from the one before.
    private static func watch(
        _ request: Request, resource: Resource<Data>, pantry: Pantry, times: Int, pause: Duration,
        output: LoadOutput
    ) async -> Bool {
        let world = SystemWorld()
        let events = pantry.events
        let telling = world.spawn {
            for await event in events { tell(event, of: resource.name, pantry: pantry, terminal: output.terminal) }
        }
        let watch = pantry.watch()
        let isWhole = Locked(true)
        let loads = world.spawn {
            var last: Data?
            for turn in 0..<times {
                if turn > 0, (try? await world.sleep(for: pause)) == nil { return }
                do {
                    let loaded = try await resource.load(request)
                    output.write(loaded)
                    if output.format == .payload, loaded.value != last {
                        output.terminal.write(loaded.value + Data("\n".utf8))
                    }
                    last = loaded.value
                    isWhole.withLock { $0 = true }
                } catch is CancellationError {
                    return
                } catch {
                    output.write(error)
                    isWhole.withLock { $0 = false }
                }
            }
        }
        await loads.value
        watch.stop()
        telling.cancel()
        return isWhole.withLock { $0 }
    }

    private static func tell(_ event: PantryEvent, of resource: String, pantry: Pantry, terminal: Terminal) {
        switch event {
        case .reloaded(let changes):
            for change in changes { terminal.note("policy swapped: \(change)") }
            for warning in pantry.warnings { terminal.note(warning.description) }
        case .rejected(let error):
            terminal.note("new policies refused, the last sound ones stay in effect:")
            for problem in error.problems { terminal.note("  \(problem)") }
        case .interrupted(let note): terminal.note(note)
        case .cacheUnusable(let problem): terminal.note("\(problem)")
        case .cacheUsable(let problem): terminal.note("usable again: \(problem.part)")
        case .offline: terminal.note("offline: copies are shown without calls")
        case .online(let time): terminal.note("online again after \(time.spelled)")
        }
    }

    private static func load(
        _ request: Request, from resource: Resource<Data>, isRepeated: Bool, output: LoadOutput
    ) async -> Bool {
        do {
            let loaded = try await resource.load(request)
            if output.format != .payload || output.showsTrail { output.write(loaded) }
            if output.format == .payload {
                let terminal = output.terminal
                terminal.write(loaded.value)
                let endsLine = loaded.value.last == UInt8(ascii: "\n")
                if !endsLine, isRepeated || terminal.isInteractive { terminal.print("") }
            }
            return true
        } catch {
            output.write(error)
            return false
        }
    }
}
