/// Unpacks gzip and deflate with zlib.
final class ZlibDecoder: StreamDecoder {
    /// The bytes around the compressed ones.
    enum Wrapping: Int32 {
        // The numbers are those of zlib for the largest window.
        case gzip = 31
        case zlib = 15
        case none = -15
        /// Those of zlib or none, as the first two bytes tell.
        case either = 0
    }

    private static let library = Result { () throws(SystemLibrary.Failure) in try ZLibrary() }

    private let library: ZLibrary
    private let stream: UnsafeMutablePointer<ZLibrary.Stream>
    private let wrapping: Wrapping
    private var hasBegun = false
    /// The first bytes of a stream whose wrapping they tell, as far as zlib has not read them.
    private var first: [UInt8] = []

    init(_ wrapping: Wrapping) throws(SystemLibrary.Failure) {
        library = try Self.library.get()
        self.wrapping = wrapping
        stream = .allocate(capacity: 1)
        stream.initialize(to: ZLibrary.Stream())
        if wrapping != .either, !begin(wrapping) { throw SystemLibrary.Failure("zlib cannot be used") }
    }

    deinit {
        if hasBegun { _ = library.end(stream) }
        stream.deallocate()
    }

    private func begin(_ wrapping: Wrapping) -> Bool {
        hasBegun = library.begin(stream, wrapping.rawValue)
        return hasBegun
    }

    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecoderStep {
        var taken = 0
        if !hasBegun {
            taken = min(2 - first.count, input.count)
            first += input[..<taken]
            guard first.count == 2 else {
                return DecoderStep(progress: Unpacker.Progress(taken: taken), result: .goesOn)
            }
            // A header of zlib has the method 8, and is a multiple of 31.
            let isHeader = first[0] & 15 == 8 && (Int(first[0]) << 8 | Int(first[1])) % 31 == 0
            guard begin(isHeader ? .zlib : .none) else { return DecoderStep(result: .damaged) }
        }
        guard !first.isEmpty else { return inflate(input, output) }
        var step = first.withUnsafeBytes { inflate($0, output) }
        first.removeFirst(step.progress.taken)
        step.progress.taken = taken
        return step
    }

    private func inflate(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecoderStep {
        let (most, room) = (UInt32(clamping: input.count), UInt32(clamping: output.count))
        stream.pointee.input = input.baseAddress
        stream.pointee.inputLeft = most
        stream.pointee.output = output.baseAddress
        stream.pointee.outputLeft = room
        let code = library.inflate(stream, 0)
        let progress = Unpacker.Progress(
            taken: Int(most - stream.pointee.inputLeft), written: Int(room - stream.pointee.outputLeft))
        switch code {
        case ZLibrary.streamEnd: return DecoderStep(progress: progress, result: .ended)
        case 0, ZLibrary.noProgress: return DecoderStep(progress: progress, result: .goesOn)
        default: return DecoderStep(progress: progress, result: .damaged)
        }
    }

    func restart() -> Bool { wrapping == .gzip && library.reset(stream) == 0 }
}

/// The functions of zlib that unpack.
private struct ZLibrary: Sendable {
    /// The state that zlib shares with its callers: `z_stream`.
    struct Stream {
        var input: UnsafeRawPointer?
        var inputLeft: UInt32 = 0
        var inputTotal: UInt = 0
        var output: UnsafeMutableRawPointer?
        var outputLeft: UInt32 = 0
        var outputTotal: UInt = 0
        var message: UnsafePointer<CChar>?
        var state: UnsafeMutableRawPointer?
        var allocate: UnsafeMutableRawPointer?
        var release: UnsafeMutableRawPointer?
        var opaque: UnsafeMutableRawPointer?
        var kind: Int32 = 0
        var checksum: UInt = 0
        var reserved: UInt = 0
    }

    static let streamEnd: Int32 = 1
    static let noProgress: Int32 = -5

    private let library: SystemLibrary
    private let version: @convention(c) () -> UnsafePointer<CChar>
    private let initialize: @convention(c) (UnsafeMutableRawPointer, Int32, UnsafePointer<CChar>, Int32) -> Int32
    private let run: @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32
    private let resetStream: @convention(c) (UnsafeMutableRawPointer) -> Int32
    private let endStream: @convention(c) (UnsafeMutableRawPointer) -> Int32

    init() throws(SystemLibrary.Failure) {
        #if canImport(Darwin)
            let files = ["/usr/lib/libz.1.dylib"]
        #else
            let files = ["libz.so.1", "libz.so"]
        #endif
        library = try SystemLibrary("zlib", files: files, package: "zlib1g", staysLoaded: true)
        version = try library.function("zlibVersion")
        initialize = try library.function("inflateInit2_")
        run = try library.function("inflate")
        resetStream = try library.function("inflateReset")
        endStream = try library.function("inflateEnd")
    }

    func begin(_ stream: UnsafeMutablePointer<Stream>, _ window: Int32) -> Bool {
        initialize(stream, window, version(), Int32(MemoryLayout<Stream>.size)) == 0
    }

    func inflate(_ stream: UnsafeMutablePointer<Stream>, _ flush: Int32) -> Int32 { run(stream, flush) }
    func reset(_ stream: UnsafeMutablePointer<Stream>) -> Int32 { resetStream(stream) }
    func end(_ stream: UnsafeMutablePointer<Stream>) -> Int32 { endStream(stream) }
}
