/// How the room of a store is shared between a window, where entries begin, and a main part for those that are worth it.
///
/// An eviction is not told how much fits; what the entries weigh when room must be made tells it.
struct Portions: Sendable {
    /// The part of the whole that belongs to the window.
    var share: Double
    /// What everything weighed when room was last made.
    private(set) var limit = Int.max
    private var newest = 0

    init(share: Double) {
        self.share = share
    }

    /// Whether there is plenty of room yet, so that what leaves the window may stay.
    func isFilling<Mark>(_ places: Chains<Mark>) -> Bool {
        places.weight < limit - limit / 16
    }

    /// What the window may weigh: its share, and at least what one entry weighs on average.
    func window<Mark>(_ places: Chains<Mark>) -> Int {
        max(Int(Double(places.weight) * share), places.weight / max(1, places.count))
    }

    /// Whether an entry fits into the main part without another having to leave it, as after the window has shrunk.
    func mainHasRoom<Mark>(for place: Int, in places: Chains<Mark>, window: Int) -> Bool {
        places.weights[0] >= window + places.weight(of: place) + newest
    }

    /// An entry is new.
    mutating func inserted(weight: Int) {
        newest = max(1, weight)
    }

    /// Room has to be made.
    mutating func pressed<Mark>(_ places: Chains<Mark>) {
        if places.count > 0 { limit = places.weight }
    }
}
