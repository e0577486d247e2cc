import LarderSystem
import LarderCore

extension HTTPAnswer {
    /// The header fields, up to the size that ``Fields`` can hold.
    var allFields: Fields {
        var all = Fields()
        for field in fields { all.add(field) }
        return all
    }

    /// Returns how long the server asks for no further calls; nil if it does not ask.
    func retryAfter(at now: Timestamp) -> Duration? {
        guard let text = fields.first(where: { $0.name == "retry-after" })?.value else { return nil }
        let trimmed = text.drop { $0 == " " }
        if !trimmed.isEmpty, trimmed.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(trimmed).map { min(.seconds($0), .forever) } ?? .forever
        }
        return HTTPDates.parse(text, now: now).map { max(.zero, $0 - now) }
    }
}
