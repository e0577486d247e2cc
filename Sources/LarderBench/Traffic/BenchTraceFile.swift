import Foundation

/// A recorded stream of requests: one key a line, in a plain file or one compressed by gzip.
struct BenchTraceFile {
    /// The different keys, in the order of their first appearance.
    private(set) var keys: [String] = []
    /// The index of the key of each request.
    private(set) var requests: [Int32] = []

    /// Reads the stream in a file. The command `gzip` decompresses a file whose name ends in `.gz`.
    ///
    /// - Throws: ``Misuse`` if the file cannot be read or is empty.
    init(path: String) throws {
        let data = path.hasSuffix(".gz") ? try Self.unpacked(path) : FileManager.default.contents(atPath: path)
        guard let data else { throw Misuse(message: "cannot read the trace \(path)") }
        var numbers: [[UInt8]: Int32] = [:]
        for line in [UInt8](data).split(whereSeparator: { $0 == 10 || $0 == 13 }) {
            let number = numbers[Array(line), default: Int32(keys.count)]
            if number == keys.count {
                numbers[Array(line)] = number
                keys.append(String(decoding: line, as: UTF8.self))
            }
            requests.append(number)
        }
        guard !requests.isEmpty else { throw Misuse(message: "the trace \(path) is empty") }
    }

    private static func unpacked(_ path: String) throws -> Data? {
        guard FileManager.default.isReadableFile(atPath: path) else { return nil }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["gzip", "-dc", "--", path]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Misuse(message: "gzip cannot unpack \(path)") }
        return data
    }
}
