import LarderSystem

/// The parameters that an origin takes and needs. No call can answer a request with others, so it fails before any part of
/// the policy sees it.
struct OriginParameters: Sendable {
    private let taken: Set<String>?
    private let required: [String]

    /// - Parameter taken: the parameters that the origin takes; nil if it takes any.
    init(taken: [String]?, required: [String]) {
        self.taken = taken.map(Set.init)
        self.required = required
    }

    /// - Throws: ``LoadError/Code/invalidRequest`` that names the parameter.
    func check(_ request: Request) throws(LoadError) {
        if required.isEmpty, taken == nil || request.parameters.isEmpty { return }
        let values = request.parameters.dictionary
        let unknown = taken.flatMap { taken in values.keys.filter { !taken.contains($0) }.min() }
        if let missing = required.first(where: { values[$0]?.isEmpty != false }) {
            let other = unknown.map { ", but one for '\(Self.shown($0))' (did you mean '\(missing)'?)" } ?? ""
            throw LoadError(.invalidRequest, "the request has no value for the parameter '\(missing)'\(other)")
        }
        guard let taken, let unknown else { return }
        let known = taken.sorted()
        let hint = closestName(to: unknown, among: known).map { " (did you mean '\($0)'?)" } ?? ""
        throw LoadError(
            .invalidRequest,
            "the origin takes no parameter '\(Self.shown(unknown))'; it takes "
                + (known.isEmpty ? "none" : known.joined(separator: ", ")) + hint)
    }

    private static func shown(_ name: String) -> String { String(name.prefix(64)).withoutControls }
}
