/// The identity of a part across reloads: its declaration, the origin it is put around, and the number of equal
/// wrappers inside it.
struct PartIdentity: Sendable {
    let part: Part
    var origin: Part?
    /// The wrappers between the part and the origin.
    var inside: ArraySlice<Part> = []
    /// The part whose setting it is, if it is one: none or one.
    var enclosing: [PartIdentity] = []

    /// The identity of a part among the settings of this one.
    func nested(_ part: Part) -> PartIdentity { PartIdentity(part: part, enclosing: [self]) }

    /// A hash of the identity, with the values from the environment. It is only comparable within this process.
    var fingerprint: Int {
        let own = Self.text(part)
        let siblings = enclosing.first.map { $0.part.nested.prefix { $0 !== part } } ?? inside
        let number = siblings.count { $0.plugin.name == part.plugin.name && Self.text($0) == own }
        if let outer = enclosing.first { return [CanonicalText.hash(own), outer.fingerprint, number].hashValue }
        return [CanonicalText.hash(own), origin.map { CanonicalText.hash(Self.text($0)) } ?? 0, number].hashValue
    }

    private static func text(_ part: Part) -> [UInt8] {
        var text = CanonicalText(isShown: false)
        part.write(to: &text)
        return text.bytes
    }
}
