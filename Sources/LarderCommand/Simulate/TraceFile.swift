import Larder

/// A recorded stream of requests: one object of JSON on each line, as `larder load --record` writes it.
struct TraceFile {
    private static let mostBytes = 2_000_000_000
    private static let longestLine = 65_536

    /// The requests of a file, in the order of their times, which begin at zero.
    ///
    /// - Throws: ``PolicyError`` that names the first line that is none.
    static func read(_ path: String) throws(PolicyError) -> [Arrival] {
        let bytes: [UInt8]
        do {
            bytes = try Disk.read(path, limit: mostBytes)
        } catch {
            throw PolicyError([Problem("the trace cannot be read: \(error)", file: path)])
        }
        var arrivals: [Arrival] = []
        for (number, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        {
            if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { continue }
            guard line.count <= longestLine, let arrival = arrival(Array(line)) else {
                throw PolicyError([
                    Problem(
                        "line \(number + 1) is no line of a trace", file: path,
                        expected: #"{"at":1767571200.5,"resource":"feed","key":"3f2a91c0"}"#)
                ])
            }
            arrivals.append(arrival)
        }
        guard let first = arrivals.map(\.at).min() else {
            throw PolicyError([Problem("the trace is empty", file: path)])
        }
        return arrivals.map { Arrival(at: $0.at - first, resource: $0.resource, key: $0.key) }.sorted { $0.at < $1.at }
    }

    private static func arrival(_ line: [UInt8]) -> Arrival? {
        guard let root = try? JSONParser.parse(SourceText(name: "", bytes: line)),
            case .number(let at, _)? = root["at"]?.content, at.isFinite, abs(at) < 1e11,
            let resource = root["resource"]?.string, let key = root["key"]?.string
        else { return nil }
        return Arrival(at: .microseconds(Int64(at * 1e6)), resource: resource, key: key)
    }
}
