import Larder
import LarderSystem

/// A recorded stream of requests: a JSON object on each line, as `larder load --record` writes it.
struct TraceFile {
    private static let mostBytes = 2_000_000_000
    private static let longestLine = 65_536

    /// The longest time between two requests of a recording.
    private static let longest = Duration.seconds(10 * 365 * 86_400)

    /// Reads the requests of a file, in the order of their times, which begin at zero. Leaves out lines that were cut off.
    ///
    /// - Parameter skip: called with the number of the first line that is not a request, and the count of such lines.
    /// - Throws: ``PolicyError`` if no line is a request.
    static func read(_ path: String, skip: (_ first: Int, _ count: Int) -> Void) throws(PolicyError) -> [TracedRequest]
    {
        let bytes: [UInt8]
        do {
            bytes = try Disk.read(path, limit: mostBytes)
        } catch {
            throw PolicyError([Problem("the trace cannot be read: \(error)", file: path)])
        }
        var requests: [TracedRequest] = []
        var wrong: [(line: Int, bytes: ArraySlice<UInt8>)] = []
        for (number, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        {
            if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { continue }
            if line.count <= longestLine, let request = request(Array(line)) {
                requests.append(request)
            } else {
                wrong.append((number + 1, line))
            }
        }
        if let first = wrong.first, requests.isEmpty {
            throw PolicyError([
                Problem(
                    "this line is not a recorded request", file: path,
                    at: SourcePosition(SourceText(name: path, bytes: bytes), offset: mistake(in: first.bytes)),
                    expected: #"{"at":1767571200.5,"resource":"feed","key":"3f2a91c0"}"#)
            ])
        }
        if let first = wrong.first { skip(first.line, wrong.count) }
        guard let first = requests.map(\.at).min() else {
            throw PolicyError([Problem("the trace is empty", file: path)])
        }
        if let last = requests.map(\.at).max(), last - first > longest {
            throw PolicyError([Problem("the trace is longer than ten years", file: path)])
        }
        return requests.map { request in
            var request = request
            request.at -= first
            return request
        }.sorted { $0.at < $1.at }
    }

    /// Returns whether the first line of a file is a request. False for a file that cannot be read.
    static func isTrace(_ path: String) -> Bool {
        guard let start = try? Disk.part(of: path, from: 0, most: longestLine).bytes else { return false }
        return request(Array(start.prefix { $0 != UInt8(ascii: "\n") })) != nil
    }

    /// Returns the offset of the mistake in a line: where its syntax is wrong, or else its start.
    private static func mistake(in line: ArraySlice<UInt8>) -> Int {
        guard line.count <= longestLine else { return line.startIndex }
        do {
            _ = try JSONParser.parse(SourceText(name: "", bytes: Array(line)))
            return line.startIndex
        } catch {
            return line.startIndex + error.position.offset
        }
    }

    private static func request(_ line: [UInt8]) -> TracedRequest? {
        guard let root = try? JSONParser.parse(SourceText(name: "", bytes: line)),
            case .number(let at, _)? = root["at"]?.content, at.isFinite, abs(at) < 1e11,
            let resource = root["resource"]?.string, let key = root["key"]?.string
        else { return nil }
        var request = TracedRequest(at: .microseconds(Int64(at * 1e6)), resource: resource, key: key)
        if let mode = root["mode"]?.string.flatMap({ Request.Mode(rawValue: $0) }) { request.mode = mode }
        return request
    }
}
