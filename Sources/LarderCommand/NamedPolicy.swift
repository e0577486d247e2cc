import Larder

extension [Policy] {
    /// Returns the policy of a resource.
    ///
    /// - Throws: ``CommandFailure`` if there is no such resource.
    func named(_ name: String) throws -> Policy {
        if let policy = first(where: { $0.resource == name }) { return policy }
        let names = map(\.resource)
        let meant = closestName(to: name, among: names).map { " (did you mean '\($0)'?)" } ?? ""
        throw CommandFailure("\(name.printable): no such resource; there are: \(names.joined(separator: ", "))\(meant)")
    }
}
