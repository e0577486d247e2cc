/// By what a part is known again after a reload: what it says, what it stands around, and how many like it stand inside it.
struct Declaration: Sendable {
    let part: Part
    var origin: Part?
    /// The wrappers that stand between it and the origin.
    var inside: ArraySlice<Part> = []

    /// A fingerprint of all that, the environment's values included: to be compared while this process runs.
    var fingerprint: Int {
        let own = Self.text(part)
        let number = inside.count { $0.plugin.name == part.plugin.name && Self.text($0) == own }
        return [Canonical.hash(own), origin.map { Canonical.hash(Self.text($0)) } ?? 0, number].hashValue
    }

    private static func text(_ part: Part) -> [UInt8] {
        var text = Canonical(isShown: false)
        part.write(to: &text)
        return text.bytes
    }
}
