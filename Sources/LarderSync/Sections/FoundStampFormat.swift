import Larder

extension StampFormat {
    /// Finds the way in which a time is written; nil if it is no time.
    init?(of value: JSONText) {
        if let number = value.number {
            // In seconds, this would be the year 5138; in milliseconds, it was in 1973.
            self = abs(number) < 1e11 ? .seconds : .milliseconds
        } else if Self.iso8601.time(value) != nil {
            self = value.string?.contains(where: { $0 == "." || $0 == "," }) == true ? .iso8601Milliseconds : .iso8601
        } else {
            return nil
        }
    }
}
