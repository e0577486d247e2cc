/// Unpacks brotli with the decoder of the project that defined it.
final class BrotliDecoder: StreamDecoder {
    private static let library = Result { () throws(SystemLibrary.Failure) in try BrotliLibrary() }

    private let library: BrotliLibrary
    private let state: UnsafeMutableRawPointer

    init() throws(SystemLibrary.Failure) {
        library = try Self.library.get()
        guard let state = library.make(nil, nil, nil) else { throw SystemLibrary.Failure("brotli cannot be used") }
        self.state = state
    }

    deinit { library.end(state) }

    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecoderStep {
        var (inputLeft, outputLeft) = (input.count, output.count)
        var (inputPlace, outputPlace) = (input.baseAddress, output.baseAddress)
        let code = library.run(state, &inputLeft, &inputPlace, &outputLeft, &outputPlace, nil)
        let progress = Unpacker.Progress(taken: input.count - inputLeft, written: output.count - outputLeft)
        switch code {
        case 1: return DecoderStep(progress: progress, result: .ended)
        case 2, 3: return DecoderStep(progress: progress, result: .goesOn)
        default: return DecoderStep(progress: progress, result: .damaged)
        }
    }

    func restart() -> Bool { false }
}

/// The functions of brotli that unpack.
private struct BrotliLibrary: Sendable {
    private let library: SystemLibrary
    let make:
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) ->
            UnsafeMutableRawPointer?
    let run:
        @convention(c) (
            UnsafeMutableRawPointer, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafeRawPointer?>,
            UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<Int>?
        ) -> Int32
    let end: @convention(c) (UnsafeMutableRawPointer) -> Void

    init() throws(SystemLibrary.Failure) {
        #if canImport(Darwin)
            let files = ["libbrotlidec.1.dylib"]
        #else
            let files = ["libbrotlidec.so.1", "libbrotlidec.so"]
        #endif
        library = try SystemLibrary("brotli", files: files, package: "libbrotli1", staysLoaded: true)
        make = try library.function("BrotliDecoderCreateInstance")
        run = try library.function("BrotliDecoderDecompressStream")
        end = try library.function("BrotliDecoderDestroyInstance")
    }
}
