/// What one file says about one resource, read and found sound.
public struct Policy: Sendable {
    /// The resource's name.
    public let resource: String
    /// What it is, in its author's words.
    public let about: String?
    /// The file it was read from, as messages call it.
    public let file: String
    /// Where data comes from; nil where the strategy asks no origin.
    public let origin: Part?
    /// What is put around the origin, in the order a call meets it.
    public let around: [Part]
    /// In which order things are tried.
    public let strategy: Part
    /// What may be kept and shown.
    public let validators: [Part]
    /// Where copies are kept; nil for nowhere.
    public let store: Part?
    /// What is tried when all of that fails, in order.
    public let fallbacks: [Part]
    /// A fingerprint of what the policy says: the same for the same content, however it is laid out.
    public let revision: String
    /// What is not wrong, but perhaps not what its author thinks.
    public let warnings: [Problem]
}

/// A place in a policy where plugins stand.
struct PolicySlot: Sendable {
    let name: String
    let kind: PluginKind
    let isList: Bool
    let help: String

    /// In the order a person asks: where does it come from, how is it called, in which order are things tried, what may
    /// still be shown, where is it kept, and what if all of that fails.
    static let all = [
        PolicySlot(name: "origin", kind: .origin, isList: false, help: "Where the data comes from"),
        PolicySlot(name: "around", kind: .wrapper, isList: true, help: "How the origin is called, outermost first"),
        PolicySlot(name: "strategy", kind: .strategy, isList: false, help: "In which order things are tried"),
        PolicySlot(name: "validators", kind: .validator, isList: true, help: "What may be kept and what may be shown"),
        PolicySlot(name: "store", kind: .store, isList: false, help: "Where copies are kept"),
        PolicySlot(name: "fallbacks", kind: .origin, isList: true, help: "What is tried when all of that fails"),
    ]

    /// What else may stand in a policy.
    static let words = ["$schema", "resource", "about"]
}
