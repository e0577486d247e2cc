import LarderFoundation
package import Larder

/// A policy to which advice is applied.
package struct AdvisedPolicy: Sendable {
    package let policy: Policy
    /// The object in the policy's own file, without the files that it extends.
    private let own: JSON
    private let registry: Registry

    /// Reads the policy of a resource.
    ///
    /// - Throws: ``PolicyError`` if it cannot be read or has errors.
    package init(_ reader: PolicyReader, file: String) throws(PolicyError) {
        let result = reader.check(file)
        guard let policy = result.policy else { throw PolicyError(result.problems) }
        self.policy = policy
        registry = reader.registry
        do { own = try PolicyFiles(folder: reader.folder).root(of: file).shown } catch { throw PolicyError([error]) }
    }

    /// The policy in effect as JSON, with `${NAME}` for values from the environment.
    package static func json(_ policy: Policy) -> JSON { policy.tree.shown }

    /// Returns the policy in effect with changes. Returns nil if it does not have the settings to change.
    package static func json(_ policy: Policy, with changes: [Advice.Change]) -> JSON? {
        var json: JSON? = Self.json(policy)
        for change in changes { json = json?.setting(change.path.steps[...], to: change.new) }
        return json
    }

    /// Whether the policy has the plugins and the values that changes are about.
    package func fits(_ changes: [Advice.Change]) -> Bool {
        let settings = AdvisedSetting.all(in: Self.json(policy), of: registry)
        return changes.allSatisfy { change in
            settings.contains { $0.path == change.path && $0.plugin == change.plugin && $0.value == change.old }
        }
    }

    /// Returns the changes as a JSON Patch (RFC 6902) for the policy's own file. Lists and bare names of plugins that are
    /// inherited from another file or become objects are written as a whole. Returns nil if the policy does not have the
    /// settings to change.
    package func patch(_ changes: [Advice.Change]) -> JSON? {
        guard var changed = Self.json(policy, with: changes) else { return nil }
        var operations: [JSON] = []
        for change in changes {
            var path: [PolicyPath.Step] = []
            // The longest part of the path that the file has as an object or a list.
            for step in change.path.steps {
                path.append(step)
                guard let value = own[path[...]], value.isStructure else { break }
            }
            let isThere = own[path[...]] != nil
            let isWhole = path.count == change.path.steps.count
            if change.new == nil, !isWhole || !isThere {
                // A file that inherits the setting must say that it is not wanted.
                changed = changed.setting(change.path.steps[...], to: .null) ?? changed
            }
            let pointer = JSON.string(PolicyPath(path).pointer)
            if let value = changed[path[...]] {
                operations.append(["op": isThere ? "replace" : "add", "path": pointer, "value": value])
            } else {
                operations.append(["op": "remove", "path": pointer])
            }
        }
        return .list(operations)
    }
}

extension JSON {
    fileprivate var isStructure: Bool {
        switch self {
        case .list, .object: true
        default: false
        }
    }
}
