/// The reaction of a pantry to a cache folder, or a part of it, that cannot be used, for example because it is
/// read-only.
public enum UnusableCacheAction: Sendable, Hashable {
    /// The pantry goes on without it: the store keeps nothing, the dump or log is not written. Stores in memory and the
    /// origin work as usual.
    case goOn
    /// The pantry throws, from `init` and from ``Pantry/reload()``.
    case fail
}

/// A part of the cache folder that cannot be used, or a clearing that is not finished. The pantry goes on without the
/// part, and does not show the copies that are still to be removed.
public struct CacheProblem: Sendable, Hashable, CustomStringConvertible {
    /// The resource whose store cannot be used; nil if the problem concerns the whole pantry.
    public let resource: String?
    /// The part that does not work: the name of the store's plugin, the section, `clearing`, `metrics`, `log` or
    /// `policies`.
    public let part: String
    /// The reason, without paths, keys or values from the environment.
    public let reason: String
    private let kind: Kind

    private enum Kind {
        case part
        /// A section, which is left out.
        case section
        case clearing
    }

    /// The part of the problem of a clearing.
    static let clearing = UnusablePart.clearing

    /// Whether it is a clearing that is not finished.
    var isClearing: Bool { kind == .clearing }

    init(resource: String?, part: String, reason: String) {
        self.resource = resource
        self.part = part
        self.reason = reason
        kind = .part
    }

    /// Makes the problem of a section that is left out.
    init(section: String, of resource: String?, reason: String) {
        self.resource = resource
        part = Self.part(section: section)
        self.reason = reason
        kind = .section
    }

    /// Makes the problem of a clearing that is not finished.
    init(unfinishedClearingOf resource: String, reason: String) {
        self.resource = resource
        part = Self.clearing
        self.reason = reason
        kind = .clearing
    }

    /// Returns the name of a section among the parts.
    static func part(section: String) -> String { "section '\(section)'" }

    /// `feed: the store 'file' keeps nothing: cannot make a folder: Read-only file system`.
    public var description: String {
        if kind == .section { return "\(resource.map { "\($0): " } ?? "")the \(part) is left out: \(reason)" }
        guard let resource else { return "\(part) cannot be written: \(reason)" }
        if isClearing { return "\(resource): a clearing is not finished: \(reason)" }
        return "\(resource): the store '\(part)' keeps nothing: \(reason)"
    }

    /// The text for the log when the problem is over.
    var resolved: String {
        if kind == .section { return "\(resource.map { "\($0): " } ?? "")the \(part) works again" }
        guard let resource else { return "\(part) can be written again" }
        if isClearing { return "\(resource): the clearing is finished" }
        return "\(resource): the store '\(part)' works again"
    }
}
