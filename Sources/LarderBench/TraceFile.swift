import Foundation

/// A recorded stream of requests: one key a line, in a plain file or one that gzip has packed.
struct TraceFile {
    /// The different lines, in order of first appearance.
    private(set) var keys: [String] = []
    /// Which of them was asked for, request by request.
    private(set) var requests: [Int32] = []

    /// What is wrong with a file.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// The stream in a file; a name that ends in `.gz` is unpacked by the command `gzip`.
    ///
    /// - Throws: ``Failure`` when it cannot be read, or holds nothing.
    init(path: String) throws {
        let data = path.hasSuffix(".gz") ? try Self.unpacked(path) : FileManager.default.contents(atPath: path)
        guard let data else { throw Failure(description: "cannot read the trace \(path)") }
        var numbers: [[UInt8]: Int32] = [:]
        for line in [UInt8](data).split(whereSeparator: { $0 == 10 || $0 == 13 }) {
            let number = numbers[Array(line), default: Int32(keys.count)]
            if number == keys.count {
                numbers[Array(line)] = number
                keys.append(String(decoding: line, as: UTF8.self))
            }
            requests.append(number)
        }
        guard !requests.isEmpty else { throw Failure(description: "the trace \(path) is empty") }
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
        guard process.terminationStatus == 0 else { throw Failure(description: "gzip cannot unpack \(path)") }
        return data
    }
}
