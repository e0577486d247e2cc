import Larder
import LarderSystem

import LarderFoundation

/// The output of a command, for results, and its error output, for everything else.
public struct Terminal: Sendable {
    /// Whether a person watches. If so, a progress bar is drawn and redrawn.
    public let isInteractive: Bool
    /// The clock that measures how long a command takes.
    var uptime: @Sendable () -> Duration = { SystemWorld().uptime }
    /// The wall time, by which clocks of other processes are judged.
    var now: @Sendable () -> Timestamp = { SystemWorld().now }
    /// Returns the whole input of the command.
    var input: @Sendable () -> [UInt8] = { (try? Disk.rest(of: 0)) ?? [] }
    /// Waits between two looks at what a command follows.
    var pause: @Sendable (Duration) async throws -> Void = { try await SystemWorld().sleep(for: $0) }
    /// The screen that a command may draw; nil if the output is no terminal.
    var screen: Screen?
    private var out: @Sendable ([UInt8]) -> Void
    private var err: @Sendable ([UInt8]) -> Void

    /// Creates a terminal that passes what is written to two closures.
    public init(
        isInteractive: Bool = false, out: @escaping @Sendable ([UInt8]) -> Void,
        err: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.isInteractive = isInteractive
        self.out = out
        self.err = err
    }

    /// The output and the error output of the process.
    public static let standard = {
        var terminal = Terminal(
            isInteractive: isatty(2) == 1, out: { write($0, to: 1) }, err: { write($0, to: 2) })
        terminal.screen = .standard
        return terminal
    }()

    /// A record of what a command has written.
    final class Written: Sendable {
        fileprivate let state = Locked((hasOutput: false, complaint: String?.none))

        /// Whether the command has written a result.
        var hasOutput: Bool { state.withLock { $0.hasOutput } }
        /// The first error message of the command, without the program's name.
        var complaint: String? { state.withLock { $0.complaint } }
    }

    /// Returns the same terminal, which also notes what is written.
    func noting(_ written: Written) -> Terminal {
        var copy = self
        copy.out = { [out] bytes in
            written.state.withLock { $0.hasOutput = true }
            out(bytes)
        }
        copy.err = { [err] bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            if text.hasPrefix(Self.name), text.hasSuffix("\n") {
                written.state.withLock {
                    $0.complaint = $0.complaint ?? String(text.dropFirst(Self.name.count).dropLast())
                }
            }
            err(bytes)
        }
        return copy
    }

    /// The same terminal, whose results go to the error output.
    var notingResults: Terminal {
        var copy = self
        copy.out = err
        return copy
    }

    /// The beginning of each error message.
    private static let name = "larder: "

    /// Writes a line of the result. Control characters are written as escapes, so that no text of a policy, a key or an
    /// argument moves the cursor.
    package func print(_ line: String) { out(Array((line.withoutControlsInLines + "\n").utf8)) }

    /// Writes bytes of the result unchanged.
    func write(_ bytes: some Sequence<UInt8>) { out(Array(bytes)) }

    /// Writes a line that is not part of the result, with escapes as in the result.
    package func note(_ line: String) { err(Array((line.withoutControlsInLines + "\n").utf8)) }

    /// Writes an error message.
    package func complain(_ message: String) { note(Self.name + message) }

    /// Draws the progress bar in place of the one before.
    func redraw(_ share: Double, _ label: String) {
        let full = Int((share * 30).rounded())
        redraw(String(repeating: "█", count: full) + String(repeating: "░", count: 30 - full) + " " + label)
    }

    /// Draws a line in place of the one before.
    func redraw(_ line: String) { err(Array("\r\(line.withoutControls)\u{1B}[K".utf8)) }

    /// Removes the progress bar.
    func clearLine() { err(Array("\r\u{1B}[K".utf8)) }

    private static func write(_ bytes: [UInt8], to file: Int32) {
        do { try Disk.write(bytes, to: file) } catch {
            // A command whose result is not written has failed.
            guard file == 1 else { return }
            write(Array("larder: the output cannot be written: \(String(cString: strerror(error.code)))\n".utf8), to: 2)
            exit(1)
        }
    }
}
