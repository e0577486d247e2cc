public import Larder

/// A service of records in memory, which the suites for pullers and pushers use: your pullers and pushers talk to it as they do
/// to the real one.
///
/// It answers as an origin does: a call without a method is a lookup, one with a method is a change (`Call.method`). A service
/// that pullers and pushers reach in another way fails all calls. It knows keys: it makes a change whose key it has seen once.
public protocol TestedService: Loader {
    /// The records that it has.
    var records: [JSONText] { get async }

    /// Makes a record be this, as another device does.
    func put(_ record: JSONText) async throws

    /// Deletes a record, as another device does.
    func delete(_ id: String) async throws

    /// Sets what is wrong with the service from now on; nil if nothing is.
    func set(_ trouble: ServiceTrouble?) async

    /// Forgets all positions that it has given.
    ///
    /// - Returns: whether it can do so. By default it cannot.
    func forgetPositions() async -> Bool
}

extension TestedService {
    /// It cannot forget any.
    public func forgetPositions() async -> Bool { false }
}

/// The troubles that a service may have.
public enum ServiceTrouble: Hashable, Sendable {
    /// No call reaches it.
    case unreachable
    /// Changes are made, and their answers are lost.
    case losesAnswers
    /// Something on the way answers with a page for people and the status 200, as the network of a hotel does.
    case loginPage
    /// Nobody is signed in: it answers with the status 401.
    case signedOut
    /// It refuses changes of this record for good.
    case refuses(id: String)
}

/// The records of the suites.
enum SampleRecords {
    /// A word in each record, which no message may contain.
    static let secret = "quince"

    static func record(_ number: Int, _ text: String = secret) -> JSONText {
        JSONText(object: [
            ("id", JSONText(string: id(number))), ("text", JSONText(string: text)),
            ("updatedAt", JSONText(string: "2026-05-10T10:00:\(number % 50 + 10)Z")),
        ])
    }

    static func id(_ number: Int) -> String { "record-\(number)" }
}

extension TestedService {
    /// Returns its records by their ids, in a form in which equal ones are the same.
    func content(_ id: JSONPointer) async -> [String: JSONText] {
        var content: [String: JSONText] = [:]
        for record in await records { content[record[id]?.name ?? ""] = record }
        return content
    }
}
