import LarderSystem

/// A recorded stream of requests: one key a line, in a plain file or one compressed by gzip.
struct BenchTraceFile {
    /// The different keys, in the order of their first appearance.
    private(set) var keys: [String] = []
    /// The index of the key of each request.
    private(set) var requests: [Int32] = []

    private static let mostBytes = 4_000_000_000

    /// Reads the stream in a file. A file whose name ends in `.gz` is unpacked.
    ///
    /// - Throws: ``Misuse`` if the file cannot be read or is empty.
    init(path: String) throws {
        guard var bytes = try? Disk.read(path, limit: Self.mostBytes) else {
            throw Misuse(message: "cannot read the trace \(path)")
        }
        if path.hasSuffix(".gz") {
            do { bytes = try Gzip.unpacked(bytes, limit: Self.mostBytes) } catch {
                throw Misuse(message: "gzip cannot unpack \(path)")
            }
        }
        var numbers: [[UInt8]: Int32] = [:]
        for line in bytes.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
            let number = numbers[Array(line), default: Int32(keys.count)]
            if number == keys.count {
                numbers[Array(line)] = number
                keys.append(String(decoding: line, as: UTF8.self))
            }
            requests.append(number)
        }
        guard !requests.isEmpty else { throw Misuse(message: "the trace \(path) is empty") }
    }
}
