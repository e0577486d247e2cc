/// Unpacks Zstandard with the library of the project that defined it.
final class ZstdDecoder: StreamDecoder {
    private static let library = Result { () throws(SystemLibrary.Failure) in try ZstdLibrary() }

    private let library: ZstdLibrary
    private let stream: UnsafeMutableRawPointer

    init() throws(SystemLibrary.Failure) {
        library = try Self.library.get()
        guard let stream = library.make() else { throw SystemLibrary.Failure("zstd cannot be used") }
        self.stream = stream
        // 100 is the limit of the window, which RFC 9659 sets to 2^23 bytes for HTTP.
        _ = library.set(stream, 100, 23)
    }

    deinit { _ = library.end(stream) }

    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecoderStep {
        var source = ZstdLibrary.Input(start: input.baseAddress, size: input.count)
        var target = ZstdLibrary.Output(start: output.baseAddress, size: output.count)
        let code = library.run(stream, &target, &source)
        let progress = Unpacker.Progress(taken: source.place, written: target.place)
        if library.isError(code) != 0 { return DecoderStep(progress: progress, result: .damaged) }
        return DecoderStep(progress: progress, result: code == 0 ? .ended : .goesOn)
    }

    /// The next frame begins by itself.
    func restart() -> Bool { true }
}

/// The functions of zstd that unpack.
private struct ZstdLibrary: Sendable {
    /// The bytes to read: `ZSTD_inBuffer`.
    struct Input {
        var start: UnsafeRawPointer?
        var size: Int
        var place = 0
    }

    /// The room to write to: `ZSTD_outBuffer`.
    struct Output {
        var start: UnsafeMutableRawPointer?
        var size: Int
        var place = 0
    }

    private let library: SystemLibrary
    let make: @convention(c) () -> UnsafeMutableRawPointer?
    let set: @convention(c) (UnsafeMutableRawPointer, Int32, Int32) -> Int
    let run: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int
    let isError: @convention(c) (Int) -> UInt32
    let end: @convention(c) (UnsafeMutableRawPointer) -> Int

    init() throws(SystemLibrary.Failure) {
        #if canImport(Darwin)
            let files = ["libzstd.1.dylib"]
        #else
            let files = ["libzstd.so.1", "libzstd.so"]
        #endif
        library = try SystemLibrary("zstd", files: files, package: "libzstd1", staysLoaded: true)
        make = try library.function("ZSTD_createDStream")
        set = try library.function("ZSTD_DCtx_setParameter")
        run = try library.function("ZSTD_decompressStream")
        isError = try library.function("ZSTD_isError")
        end = try library.function("ZSTD_freeDStream")
    }
}
