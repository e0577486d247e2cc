import Larder

/// A range of ages of the copy, between two ages at which a policy changes its mind.
struct AgeRange: Hashable, Sendable {
    let from: Duration
    /// The end, which is not part of it; nil if there is none.
    let to: Duration?

    /// The ranges between borders, in order.
    static func all(between borders: [Duration]) -> [AgeRange] {
        let starts = [.zero] + borders.filter { $0 > .zero }
        return zip(starts, starts.dropFirst().map { Optional($0) } + [nil]).map(AgeRange.init)
    }

    /// An age in its middle.
    var middle: Duration {
        guard let to else { return from + .seconds(86_400) }
        return from.middle(to: to)
    }
}

extension [AgeRange?] {
    /// The copies in plain words: "copy 5m to 1h old". Nil is no copy. Empty if it makes no difference.
    ///
    /// - Parameter all: all ranges that were compared, in order, and nil. These are some of them.
    func inWords(of all: [AgeRange?]) -> String {
        if count == all.count { return "" }
        var ranges: [AgeRange] = []
        for range in all.compactMap({ $0 }) where contains(range) {
            if let last = ranges.last, last.to == range.from {
                ranges[ranges.count - 1] = AgeRange(from: last.from, to: range.to)
            } else {
                ranges.append(range)
            }
        }
        let copies = ranges.map { range -> String in
            switch (range.from, range.to) {
            case (.zero, nil): "any copy"
            case (.zero, let to?): "copy younger than \(to.inWords)"
            case (let from, nil): "copy of \(from.inWords) or older"
            case (let from, let to?): "copy \(from.inWords) to \(to.inWords) old"
            }
        }
        return ((contains(nil) ? ["no copy"] : []) + copies).joined(separator: " or ")
    }
}
