import LarderFoundation
import Larder

/// The number of bytes that stand for each byte of a row's payloads.
///
/// A row's `max_bytes` counts the bytes of payloads. A store's capacity also counts an overhead for each entry. So each
/// payload is made so much larger that the overhead of all entries together is less than one byte of the row.
struct PayloadScale: Sendable {
    private let factor: Int

    /// The largest size of all payloads together, in bytes.
    private static let most = 256_000_000

    /// Creates the scale of a row. It is 1 if no store of the row has a limit in bytes.
    ///
    /// - Throws: ``Unsupported`` if the payloads would be too large.
    init(of row: ConformRow) throws(Unsupported) {
        guard row.tiers.contains(where: { $0.mostBytes != nil }) else {
            factor = 1
            return
        }
        let keys = Set(row.seeds.map(\.key) + row.steps.map(\.key))
        let headers = row.seeds.map(\.headers) + row.answers.map(\.headers)
        let texts =
            headers.joined().map { $0.name.utf8.count + $0.value.utf8.count }
            + (row.seeds.map(\.validators) + row.answers.map(\.validators))
            .map { ($0.etag?.utf8.count ?? 0) + ($0.lastModified?.utf8.count ?? 0) }
        let longestKey = keys.map(\.utf8.count).max() ?? 0
        factor = (keys.count + 1) * (1_024 + texts.reduce(0, +) + 3 * longestKey)
        let puts = row.steps.map { if case .put(let body) = $0.operation { body.count } else { 0 } }
        let sizes = row.seeds.map { $0.body?.count ?? 0 } + row.answers.map(\.body.count) + puts
        guard sizes.reduce(0, +) <= Self.most / factor else {
            throw Unsupported("max_bytes beside payloads of \(sizes.reduce(0, +)) bytes in all")
        }
    }

    /// Returns the payload that stands for these bytes of a row.
    func payload(_ body: Data) -> Data {
        factor == 1 ? body : body + Data(count: body.count * (factor - 1))
    }

    /// Returns the bytes of a row that a payload stands for.
    func body(_ payload: Data) -> Data { factor == 1 ? payload : payload.prefix(payload.count / factor) }

    /// Returns the capacity that stands for a limit of a row.
    func capacity(_ bytes: Int) -> Int {
        bytes.multipliedReportingOverflow(by: factor).overflow ? .max : bytes * factor + factor - 1
    }
}
