import Larder
import LarderSystem

import LarderFoundation

/// The keyboard and the size of a terminal, for a command that draws its whole screen.
struct Screen: Sendable {
    /// An event while a key is waited for.
    enum Input: Sendable, Equatable {
        case key(UInt8)
        case nothing
        /// The keyboard is gone.
        case end
    }

    /// Returns the present size.
    var size: @Sendable () -> (columns: Int, rows: Int)
    /// Waits for a key, at most this long.
    var input: @Sendable (Duration) async -> Input
    /// Lets keys arrive one by one without being shown. Returns a closure that undoes this.
    var prepare: @Sendable () -> @Sendable () -> Void

    /// The screen of the process; nil if its input or its output is no terminal that can be drawn on.
    static var standard: Screen? {
        guard isatty(0) == 1, isatty(1) == 1, let kind = getenv("TERM"), strcmp(kind, "dumb") != 0 else { return nil }
        return Screen(
            size: { windowSize },
            input: { limit in (try? await SystemWorld().blocking { read(within: limit) }) ?? .nothing },
            prepare: {
                var former = termios()
                guard tcgetattr(0, &former) == 0 else { return {} }
                var settings = former
                settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
                withUnsafeMutableBytes(of: &settings.c_cc) { keys in
                    (keys[Int(VMIN)], keys[Int(VTIME)]) = (1, 0)
                    // The screen could not be put back before the process stops.
                    keys[Int(VSUSP)] = UInt8(truncatingIfNeeded: fpathconf(0, Int32(_PC_VDISABLE)))
                }
                tcsetattr(0, TCSANOW, &settings)
                return { [former] in
                    var former = former
                    tcsetattr(0, TCSANOW, &former)
                }
            })
    }

    private static var windowSize: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    private static func read(within limit: Duration) -> Input {
        var wait = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, Int32(clamping: limit.nanoseconds / 1_000_000)) > 0 else { return .nothing }
        var byte: UInt8 = 0
        let count = systemRead(0, into: &byte, count: 1)
        return count == 1 ? .key(byte) : .end
    }
}
