/// A part as its identity knows it: ``Part``.
protocol DeclaredPart: AnyObject, Sendable {
    /// A hash of its declaration, with the values from the environment.
    var fingerprint: Int { get }
    /// The parts among its settings.
    var inner: [any DeclaredPart] { get }
    /// Whether its plugin sets levels or gauges.
    var setsValues: Bool { get }
}

/// The identity of a part across reloads: its declaration, the origin it is put around, and the number of equal
/// wrappers inside it.
struct PartIdentity: Sendable {
    let part: any DeclaredPart
    var origin: (any DeclaredPart)?
    /// The wrappers between the part and the origin.
    var inside: [any DeclaredPart] = []
    /// The part whose setting it is, if it is one: none or one.
    var enclosing: [PartIdentity] = []

    /// The identity of a part among the settings of this one.
    func nested(_ part: any DeclaredPart) -> PartIdentity { PartIdentity(part: part, enclosing: [self]) }

    /// A hash of the identity, with the values from the environment. It is only comparable within this process.
    var fingerprint: Int {
        let own = part.fingerprint
        let siblings = enclosing.first.map { Array($0.part.inner.prefix { $0 !== part }) } ?? inside
        let number = siblings.count { $0.fingerprint == own }
        var hasher = Hasher()
        hasher.combine(own)
        hasher.combine(enclosing.first?.fingerprint ?? origin?.fingerprint ?? 0)
        hasher.combine(number)
        return hasher.finalize()
    }
}
