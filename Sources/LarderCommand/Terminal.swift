import Larder

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Where a command writes: results to one side, everything else to the other.
public struct Terminal: Sendable {
    /// Whether a person watches, so that progress may be shown and lines redrawn.
    public let isInteractive: Bool
    /// The time, for telling how long something takes.
    var uptime: @Sendable () -> Duration = { SystemWorld().uptime }
    private let out: @Sendable ([UInt8]) -> Void
    private let err: @Sendable ([UInt8]) -> Void

    /// A terminal that hands what is written to two closures.
    public init(
        isInteractive: Bool = false, out: @escaping @Sendable ([UInt8]) -> Void,
        err: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.isInteractive = isInteractive
        self.out = out
        self.err = err
    }

    /// The process's own output and error output.
    public static let standard = Terminal(
        isInteractive: isatty(2) == 1, out: { Self.write($0, to: 1) }, err: { Self.write($0, to: 2) })

    /// Writes a line of the result.
    func print(_ line: String) { out(Array((line + "\n").utf8)) }

    /// Writes bytes of the result, as they are.
    func write(_ bytes: some Sequence<UInt8>) { out(Array(bytes)) }

    /// Writes a line that is not of the result.
    func note(_ line: String) { err(Array((line + "\n").utf8)) }

    /// Writes a line about what went wrong.
    func complain(_ message: String) { note("larder: " + message) }

    /// Redraws the line of a progress bar.
    func redraw(_ share: Double, _ label: String) {
        let full = Int((share * 30).rounded())
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: 30 - full)
        err(Array("\r\(bar) \(label)\u{1B}[K".utf8))
    }

    /// Removes that line.
    func clearLine() { err(Array("\r\u{1B}[K".utf8)) }

    private static func write(_ bytes: [UInt8], to file: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                #if canImport(Darwin)
                    Darwin.write(file, buffer.baseAddress, buffer.count)
                #elseif canImport(Glibc)
                    Glibc.write(file, buffer.baseAddress, buffer.count)
                #else
                    Musl.write(file, buffer.baseAddress, buffer.count)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                // A result that is not written is no success.
                if file == 1 {
                    write(
                        Array("larder: the output cannot be written: \(String(cString: strerror(errno)))\n".utf8), to: 2
                    )
                    exit(1)
                }
                return
            }
            rest = rest.dropFirst(count)
        }
    }
}
