import LarderSystem
import LarderFoundation
import Larder

@testable import LarderPlugins

/// Judges answers of HTTP servers by the validator `http`, at exact ages.
protocol HTTPJudging {}

extension HTTPJudging {
    static var now: Timestamp { Timestamp(seconds: 1_795_348_800) }
    static var date: String { HTTPDates.text(now) }

    /// An answer as an origin delivers it.
    static func answer(_ fields: Fields, status: Int = 200, setsCookie: Bool = false) -> Entry {
        var fields = fields
        if setsCookie { fields["set-cookie"] = "a=b" }
        var metadata = Metadata(httpStatus: status, fields: fields, askedAt: now, arrivedAt: now)
        metadata.setTime(now)
        return Entry(Data("x".utf8), metadata)
    }

    static func request(_ fields: Fields = [:]) -> Request { Request("feed", fields: fields) }

    /// A validator's decision about an answer that arrives.
    func admission(
        _ validator: HTTPValidator, _ entry: Entry, _ arrival: Arrival = .origin, for asked: Fields = [:]
    ) throws -> Admission {
        var entry = entry
        return try validator.admit(&entry, from: arrival, for: Self.request(asked))
    }

    /// The uses that a validator without settings permits, after a time, for an answer with these fields.
    func uses(_ fields: Fields, after seconds: Double, for asked: Fields = [:]) throws -> String {
        try uses(HTTPValidator(), fields, after: seconds, for: asked)
    }

    /// The uses that a validator permits, after a time, for an answer with these fields.
    func uses(
        _ validator: HTTPValidator, _ fields: Fields, after seconds: Double, for asked: Fields = [:]
    ) throws -> String {
        var entry = Self.answer(fields)
        _ = try validator.admit(&entry, from: .origin, for: Self.request())
        let permissions = validator.permit(
            entry.metadata, for: Self.request(asked), at: Self.now + .seconds(seconds))
        return Self.letters(permissions)
    }

    /// `f` for fresh, `w` for while revalidating, `e` for on error, `r` for revalidation.
    static func letters(_ permissions: Permissions) -> String {
        let names: [(Uses, String)] = [(.fresh, "f"), (.whileRevalidating, "w"), (.onError, "e"), (.revalidation, "r")]
        return names.filter { permissions.uses.contains($0.0) }.map(\.1).joined()
    }
}

extension Metadata {
    /// Sets the time of the fetch, as the graph does.
    fileprivate mutating func setTime(_ time: Timestamp) { fetchedAt = time }
}
