import Larder

/// A recorded stream of requests: one object of JSON on each line, as `larder load --record` writes it.
struct TraceFile {
    private static let mostBytes = 2_000_000_000
    private static let longestLine = 65_536

    /// More than this lies between no two requests of one recording.
    private static let longest = Duration.seconds(10 * 365 * 86_400)

    /// The requests of a file, in the order of their times, which begin at zero. Lines that were cut off are left out.
    ///
    /// - Parameter skip: told the number of the first line that is none, and how many there are.
    /// - Throws: ``PolicyError`` when no line is one.
    static func read(_ path: String, skip: (_ first: Int, _ count: Int) -> Void) throws(PolicyError) -> [Arrival] {
        let bytes: [UInt8]
        do {
            bytes = try Disk.read(path, limit: mostBytes)
        } catch {
            throw PolicyError([Problem("the trace cannot be read: \(error)", file: path)])
        }
        var arrivals: [Arrival] = []
        var wrong: [Int] = []
        for (number, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        {
            if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { continue }
            if line.count <= longestLine, let arrival = arrival(Array(line)) {
                arrivals.append(arrival)
            } else {
                wrong.append(number + 1)
            }
        }
        if let first = wrong.first, arrivals.isEmpty {
            throw PolicyError([
                Problem(
                    "line \(first) is no line of a trace", file: path,
                    expected: #"{"at":1767571200.5,"resource":"feed","key":"3f2a91c0"}"#)
            ])
        }
        if let first = wrong.first { skip(first, wrong.count) }
        guard let first = arrivals.map(\.at).min() else {
            throw PolicyError([Problem("the trace is empty", file: path)])
        }
        if let last = arrivals.map(\.at).max(), last - first > longest {
            throw PolicyError([Problem("the trace is longer than ten years", file: path)])
        }
        return arrivals.map { arrival in
            var arrival = arrival
            arrival.at -= first
            return arrival
        }.sorted { $0.at < $1.at }
    }

    private static func arrival(_ line: [UInt8]) -> Arrival? {
        guard let root = try? JSONParser.parse(SourceText(name: "", bytes: line)),
            case .number(let at, _)? = root["at"]?.content, at.isFinite, abs(at) < 1e11,
            let resource = root["resource"]?.string, let key = root["key"]?.string
        else { return nil }
        var arrival = Arrival(at: .microseconds(Int64(at * 1e6)), resource: resource, key: key)
        if let mode = root["mode"]?.string.flatMap({ Request.Mode(rawValue: $0) }) { arrival.mode = mode }
        return arrival
    }
}
