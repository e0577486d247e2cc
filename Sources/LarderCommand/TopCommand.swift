import Larder
import LarderReports
import LarderSystem

extension Command {
    static let top = Command(
        name: "top", summary: "Follows metrics dumps and shows what users get now.",
        operands: "FOLDER|FILE …",
        details: """
            FOLDER is a folder to which pantries write dumps ('metrics' in _larder.json), FILE is one dump. They are read again
            whenever they change. The dumps of several processes are added up. A process counts as ended once another one of
            the same installation and program began, or after an hour without a dump while others write theirs. Rates and
            percentiles are those of the last minute before each dump, so they change as often as dumps are written.

            On a terminal, the whole screen is drawn, and q quits. Another output gets plain lines whenever a dump was
            written. Red lines are resources whose loads fail, yellow ones those whose loads fall back: they get a copy, or the
            value of one of the policy's 'fallbacks', because a call failed or took too long. NO_COLOR turns colours off. Times
            are in UTC.
            """,
        options: [
            Option("interval", value: "TIME", help: "How often the files are looked at (default: 2s)"),
            Option("once", help: "Show the present state and end"),
            Option("json", help: "Write the state as JSON, on one line for each change unless --once is given"),
        ],
        run: { arguments, _, terminal in
            if arguments.operands.isEmpty { throw UsageError(message: "top takes at least one FOLDER or FILE") }
            let interval = try arguments.duration(of: "interval") ?? .seconds(2)
            guard (.milliseconds(100) ... .seconds(3_600)).contains(interval) else {
                throw UsageError(message: "--interval takes a time from 100ms to 1h")
            }
            for path in arguments.operands where Disk.item(path) == nil {
                throw CommandFailure(
                    "\(path.printable): there is no such file or folder; top takes a folder of dumps, or a dump")
            }
            let dumps = FollowedDumps(arguments.operands) { file throws(MetricsDump.Unreadable) in
                try DumpFile(path: file).dump()
            }
            var top = Top(
                terminal: terminal, paths: arguments.operands, interval: interval, isJSON: arguments.has("json"),
                isColoured: arguments.environment["NO_COLOR"]?.isEmpty ?? true, dumps: dumps)
            if arguments.has("once") { return top.showOnce() }
            if let screen = terminal.screen, !arguments.has("json") {
                await top.draw(on: screen)
            } else {
                try await top.writeLines()
            }
            return true
        })
}

/// A run of `larder top`.
private struct Top {
    let terminal: Terminal
    let paths: [String]
    let interval: Duration
    let isJSON: Bool
    let isColoured: Bool
    var dumps: FollowedDumps
    var state = TopState()
    /// The longest wait for a key, after which the size of the screen is asked for again.
    private static let glance = Duration.milliseconds(200)

    private var text: TopText { TopText(state: state, now: terminal.now(), paths: paths) }

    private mutating func read() -> Bool { state.take(dumps.changes(), at: terminal.now()) }

    /// Shows the present state. Returns false if there is no dump, or a file that is none.
    mutating func showOnce() -> Bool {
        _ = read()
        // A file that could not be read is tried once more.
        _ = read()
        for event in state.events { terminal.complain(event.text) }
        guard state.newest != nil else {
            terminal.complain("there is no dump in \(paths.map(\.printable).joined(separator: ", "))")
            return false
        }
        if isJSON {
            terminal.print(text.json.text())
        } else {
            for line in text.screen(columns: .max, rows: nil) { terminal.print(line.text) }
        }
        return state.events.allSatisfy(\.isHarmless)
    }

    /// Writes lines whenever there is something new, until the process is ended.
    mutating func writeLines() async throws {
        var (shown, isTold) = (0, false)
        while true {
            if read() {
                if isJSON {
                    terminal.print(text.json.text(indented: false))
                } else {
                    for line in text.lines(after: shown) { terminal.print(line) }
                }
                shown = state.eventCount
            } else if state.newest == nil, !isTold {
                terminal.note(text.waiting)
                isTold = true
            }
            try await terminal.pause(interval)
        }
    }

    /// Draws on a screen until a key ends it. A signal puts the screen back before it ends the process.
    mutating func draw(on screen: Screen) async {
        let undo = screen.prepare()
        let leave: @Sendable () -> Void = { [terminal] in
            terminal.write("\u{1B}[?25h\u{1B}[?1049l".utf8)
            undo()
        }
        let world = SystemWorld()
        let signals = world.heldSignals(["TERM", "INT"])
        let watch = world.spawn {
            for await signal in signals {
                leave()
                signal.release()
            }
        }
        terminal.write("\u{1B}[?1049h\u{1B}[?25l".utf8)
        defer {
            watch.cancel()
            leave()
        }
        var next = terminal.uptime()
        var former: (columns: Int, rows: Int) = (0, 0)
        while true {
            let now = terminal.uptime()
            let size = screen.size()
            if now >= next || size != former {
                if now >= next {
                    _ = read()
                    next = now + interval
                }
                former = size
                terminal.write(
                    text.drawing(columns: size.columns, rows: size.rows, isColoured: isColoured).utf8)
            }
            switch await screen.input(min(Self.glance, max(.zero, next - now))) {
            case .key(UInt8(ascii: "q")), .key(UInt8(ascii: "Q")), .key(4), .end: return
            case .key, .nothing: break
            }
        }
    }
}
