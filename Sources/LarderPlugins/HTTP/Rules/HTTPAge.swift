import LarderSystem
import LarderCore

/// Calculates the age of an answer on its arrival (RFC 9111, section 4.2.3).
///
/// The clock of a device and that of a server may differ by days. So the age is the one that caches on the way named in
/// the field `Age`, plus the time that the exchange took. The field `Date` is compared with the device's clock only if a
/// cache on the way speaks HTTP/1.0 according to `Via`, because such a cache does not name the age.
enum HTTPAge {
    /// Returns the age that an answer had when it arrived. It is never negative.
    ///
    /// - Parameters:
    ///   - fields: the fields of the answer. `age`, `date` and `via` are read.
    ///   - asked: the time at which the request was sent.
    ///   - arrived: the time at which the head of the answer arrived.
    static func initial(_ fields: Fields, asked: Timestamp, arrived: Timestamp) -> Duration {
        let delay = max(.zero, arrived - asked)
        let age = Duration.seconds(named(fields) ?? 0) + delay
        guard passedOldCache(fields), let date = fields["date"].flatMap({ HTTPDates.parse($0, now: arrived) }) else {
            return age
        }
        // A forged date must not lead to an age that cannot be calculated with.
        return min(max(age, arrived - date), .seconds(HTTPText.mostSeconds))
    }

    /// Returns the value of the field `Age` in seconds; nil if there is none, or if it is not a number. Of several
    /// values, the first one counts.
    private static func named(_ fields: Fields) -> Int64? {
        guard let value = fields["age"] else { return nil }
        let first = Array(value.utf8).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).first
        return first.flatMap { HTTPText.seconds(HTTPText.trimmed($0)) }
    }

    /// Returns whether the answer passed a cache that speaks HTTP/1.0.
    private static func passedOldCache(_ fields: Fields) -> Bool {
        fields.all("via").contains { value in
            value.split(separator: ",").contains { hop in
                let version = hop.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }.lowercased()
                return version == "1.0" || version == "http/1.0"
            }
        }
    }
}
