/// Unpacks a compressed stream of bytes, piece by piece.
///
/// The libraries that do it belong to the system. Each is looked up when the first stream of its format begins. Memory
/// does not grow with the stream, because no format refers back by more than 16 MB. An unpacker is used by one thread at
/// a time.
public final class Unpacker {
    /// A compressed format.
    public enum Format: Sendable {
        /// Files of gzip, one after the other. Each ends with a checksum and its size.
        case gzip
        /// Deflate with a checksum (zlib), or without one. The first bytes tell which it is.
        case deflate
        /// Brotli, which has no checksum.
        case brotli
        /// Frames of Zstandard, one after the other. A checksum is optional. A frame may refer back by at most 8 MB.
        case zstd
    }

    /// The error of a stream that is not valid.
    public struct Damage: Error, Hashable {
        /// Creates the error.
        public init() {}
    }

    /// The bytes that were used.
    public struct Progress: Hashable, Sendable {
        /// The number of compressed bytes that were read.
        public var taken = 0
        /// The number of bytes that were written.
        public var written = 0
    }

    /// Whether the stream is whole up to here: all that was begun has ended, and its checksums are right.
    public private(set) var isWhole = false

    private let decoder: any StreamDecoder

    /// Begins a stream.
    ///
    /// - Throws: ``SystemLibrary/Failure`` if the library is missing, or cannot be used.
    public init(_ format: Format) throws(SystemLibrary.Failure) {
        decoder =
            switch format {
            case .gzip: try ZlibDecoder(.gzip)
            case .deflate: try ZlibDecoder(.either)
            case .brotli: try BrotliDecoder()
            case .zstd: try ZstdDecoder()
            }
    }

    /// Returns whether the library for a format can be used.
    public static func canUnpack(_ format: Format) -> Bool { (try? Unpacker(format)) != nil }

    /// Unpacks bytes until there are no more of them, there is no more room, or a part of the stream ends. Another part may
    /// follow. If the room was filled, there may be more to write although all bytes were read.
    ///
    /// - Parameters:
    ///   - input: the compressed bytes behind those that were read before.
    ///   - output: the room for the unpacked bytes. It must not be empty.
    /// - Throws: ``Damage`` if the stream is not valid.
    public func unpack(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(Damage) -> Progress {
        if isWhole {
            if input.isEmpty { return Progress() }
            guard decoder.restart() else { throw Damage() }
            isWhole = false
        }
        var progress = Progress()
        while progress.written < output.count {
            let step = decoder.step(
                UnsafeRawBufferPointer(rebasing: input[progress.taken...]),
                UnsafeMutableRawBufferPointer(rebasing: output[progress.written...]))
            progress.taken += step.progress.taken
            progress.written += step.progress.written
            switch step.result {
            case .ended:
                isWhole = true
                return progress
            case .damaged: throw Damage()
            case .goesOn where step.progress == Progress():
                guard progress.taken == input.count else { throw Damage() }
                return progress
            case .goesOn: break
            }
        }
        return progress
    }
}

/// A decoder of a library.
protocol StreamDecoder {
    /// Reads and writes as much as it can.
    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> DecoderStep

    /// Prepares for another part of the stream behind one that has ended. Returns false if none may follow.
    func restart() -> Bool
}

/// The result of one call of a decoder.
struct DecoderStep {
    enum Result { case goesOn, ended, damaged }

    var progress = Unpacker.Progress()
    var result: Result
}
