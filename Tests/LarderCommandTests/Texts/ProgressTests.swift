import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

// Foundation has a type of this name, too.
import class LarderCommand.Progress

@testable import ConformRun
@testable import LarderCommand

@Suite struct ProgressTests {
    /// A terminal whose clock advances by `step` at each reading.
    private static func written(isInteractive: Bool, step: Duration, _ work: (Terminal) async throws -> Void)
        async rethrows
        -> (out: String, err: String)
    {
        let out = Locked<[UInt8]>([])
        let err = Locked<[UInt8]>([])
        let time = Locked(Duration.zero)
        var terminal = Terminal(
            isInteractive: isInteractive, out: { bytes in out.withLock { $0 += bytes } },
            err: { bytes in err.withLock { $0 += bytes } })
        terminal.uptime = {
            time.withLock {
                $0 += step
                return $0
            }
        }
        try await work(terminal)
        return (
            String(decoding: out.withLock { $0 }, as: UTF8.self), String(decoding: err.withLock { $0 }, as: UTF8.self)
        )
    }

    @Test func terminalShowsBarAfterOneSecond() async {
        let (out, err) = await Self.written(isInteractive: true, step: .milliseconds(300)) { terminal in
            let progress = Progress(terminal, "work")
            for number in 1...5 { progress.show(Double(number) / 10, "step \(number)") }
            progress.end()
        }
        let frames = err.split(separator: "\r").map(String.init)
        #expect(out.isEmpty)
        // The work begins at 300 ms. The bar is due at 1.3 s, and the reading at 1.5 s is the first after that.
        #expect(
            frames.count == 3 && frames[0].hasSuffix("step 4, 1.8 s left\u{1B}[K") && frames[2] == "\u{1B}[K",
            "\(frames)")
        #expect(frames[0].filter { $0 == "█" }.count == 12)
    }

    @Test func quickWorkShowsNothing() async {
        for isInteractive in [true, false] {
            let (out, err) = await Self.written(isInteractive: isInteractive, step: .milliseconds(10)) { terminal in
                let progress = Progress(terminal, "work")
                for number in 1...50 { progress.show(Double(number) / 50, "step \(number)") }
                progress.end()
            }
            #expect(out.isEmpty && err.isEmpty)
        }
    }

    @Test func logGetsPlainLineEveryTenSeconds() async {
        let (out, err) = await Self.written(isInteractive: false, step: .seconds(4)) { terminal in
            let progress = Progress(terminal, "work")
            for number in 1...8 { progress.show(Double(number) / 8, "step \(number)\u{7}") }
            progress.end()
        }
        #expect(out.isEmpty)
        #expect(err == "work: 37 %, step 3\u{FFFD}, 20 s left\nwork: 75 %, step 6\u{FFFD}, 8 s left\n")
    }

    @Test(arguments: [true, false]) func longCommandsShowProgress(_ isInteractive: Bool) async throws {
        let folder = try Folder.withPolicies()
        let commands = [
            ["simulate", "--traffic", "rate=10,for=2m", "--policies", folder.path],
            ["test", "--policies", projectFolder.path + "/Policies"],
            ["demo", "--policies", folder.path, "--out", folder.path + "/day"],
            ["report", folder.path + "/day/metrics.json"],
        ]
        for command in commands {
            let (out, err) = await Self.written(isInteractive: isInteractive, step: .seconds(11)) { terminal in
                #expect(await LarderCommand.run(command, environment: [:], terminal: terminal) == 0)
            }
            #expect(err.contains(isInteractive ? "░" : "\(command[0]): "), "\(command[0]): \(err)")
            #expect(!out.contains("█") && !out.contains("\(command[0]): ") && !out.isEmpty)
        }
    }

    @Test(arguments: [true, false]) func longConformRunShowsProgress(_ isInteractive: Bool) async throws {
        let rows = try Folder()
        try rows.write(ConformRows.file(ConformRows.row), to: "rows.json")
        let (out, err) = await Self.written(isInteractive: isInteractive, step: .seconds(11)) { terminal in
            #expect(
                await LarderCommand.run(
                    .conform, arguments: [rows.path + "/rows.json"], registry: .standard, environment: [:],
                    terminal: terminal) == 0)
        }
        #expect(err.contains(isInteractive ? "░" : "ConformRun: "), "\(err)")
        #expect(!out.contains("█") && !out.contains("ConformRun: ") && !out.isEmpty)
    }
}
