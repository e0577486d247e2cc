/// Unpacks gzip files with the system's zlib, which is looked up when the first one is read.
package enum Gzip {
    /// The reason why a file cannot be unpacked.
    package struct Failure: Error, CustomStringConvertible {
        /// The reason.
        package let description: String
    }

    /// Returns whether a file that begins with these bytes is a gzip file.
    package static func isPacked(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

    /// Returns the contents of a gzip file.
    ///
    /// - Parameter limit: the largest size of the contents, in bytes. Unpacking stops there.
    /// - Throws: ``Failure`` if the file is damaged, incomplete or too large, or zlib is missing.
    package static func unpacked(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        let (contents, end) = try inflate(bytes, limit: limit + 1)
        if contents.count > limit { throw Failure(description: "unpacked, it is larger than \(limit / 1_000_000) MB") }
        guard end == .complete else {
            throw Failure(description: end == .missing ? "the gzip file ends too early" : "the gzip file is damaged")
        }
        return contents
    }

    /// Returns the beginning of the contents, at most `most` bytes, as far as these bytes tell.
    package static func beginning(of bytes: [UInt8], most: Int) throws(Failure) -> [UInt8] {
        Array(try inflate(bytes, limit: most).contents)
    }

    private enum End {
        case complete
        case missing
        case damaged
    }

    private static let library = Result { () throws(SystemLibrary.Failure) in try ZLibrary() }

    /// Unpacks up to `limit` bytes. A gzip file may consist of several parts, one after the other.
    private static func inflate(_ bytes: [UInt8], limit: Int) throws(Failure) -> (contents: [UInt8], end: End) {
        let library: ZLibrary
        do { library = try Self.library.get() } catch { throw Failure(description: error.description) }
        let stream = UnsafeMutablePointer<ZLibrary.Stream>.allocate(capacity: 1)
        stream.initialize(to: ZLibrary.Stream())
        defer { stream.deallocate() }
        guard library.begin(stream) else { throw Failure(description: "zlib cannot be used") }
        defer { _ = library.end(stream) }
        var contents: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(1 << 16, max(limit, 1)))
        let end = bytes.withUnsafeBufferPointer { input -> End in
            stream.pointee.input = input.baseAddress
            stream.pointee.inputLeft = UInt32(clamping: input.count)
            while contents.count < limit {
                let room = min(chunk.count, limit - contents.count)
                let code = chunk.withUnsafeMutableBufferPointer { output in
                    stream.pointee.output = output.baseAddress
                    stream.pointee.outputLeft = UInt32(room)
                    return library.inflate(stream, 0)
                }
                contents += chunk[..<(room - Int(stream.pointee.outputLeft))]
                switch code {
                case ZLibrary.streamEnd:
                    // Zeros after the end are padding.
                    let rest = input.suffix(Int(stream.pointee.inputLeft))
                    if rest.allSatisfy({ $0 == 0 }) { return .complete }
                    guard library.reset(stream) == 0 else { return .damaged }
                case 0: continue
                case ZLibrary.noProgress where stream.pointee.inputLeft == 0: return .missing
                default: return .damaged
                }
            }
            return .missing
        }
        return (contents, end)
    }
}

/// The functions of zlib that unpack gzip files.
private struct ZLibrary: Sendable {
    /// The state that zlib shares with its callers: `z_stream`.
    struct Stream {
        var input: UnsafePointer<UInt8>?
        var inputLeft: UInt32 = 0
        var inputTotal: UInt = 0
        var output: UnsafeMutablePointer<UInt8>?
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
    /// The largest window, and a gzip header around the data.
    private static let window: Int32 = 15 + 16

    private typealias Begin =
        @convention(c) (UnsafeMutableRawPointer, Int32, UnsafePointer<CChar>, Int32) -> Int32
    private typealias Change = @convention(c) (UnsafeMutableRawPointer) -> Int32
    private typealias Inflate = @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32

    private let library: SystemLibrary
    private let version: @convention(c) () -> UnsafePointer<CChar>
    private let initialize: Begin
    private let run: Inflate
    private let resetStream: Change
    private let endStream: Change

    init() throws(SystemLibrary.Failure) {
        #if canImport(Darwin)
            let files = ["/usr/lib/libz.1.dylib"]
        #else
            let files = ["libz.so.1", "libz.so"]
        #endif
        library = try SystemLibrary("zlib", files: files, package: "zlib1g", staysLoaded: true)
        version = try library.function(
            "zlibVersion", as: (@convention(c) () -> UnsafePointer<CChar>).self)
        initialize = try library.function("inflateInit2_", as: Begin.self)
        run = try library.function("inflate", as: Inflate.self)
        resetStream = try library.function("inflateReset", as: Change.self)
        endStream = try library.function("inflateEnd", as: Change.self)
    }

    func begin(_ stream: UnsafeMutablePointer<Stream>) -> Bool {
        initialize(stream, Self.window, version(), Int32(MemoryLayout<Stream>.size)) == 0
    }

    func inflate(_ stream: UnsafeMutablePointer<Stream>, _ flush: Int32) -> Int32 { run(stream, flush) }
    func reset(_ stream: UnsafeMutablePointer<Stream>) -> Int32 { resetStream(stream) }
    func end(_ stream: UnsafeMutablePointer<Stream>) -> Int32 { endStream(stream) }
}
