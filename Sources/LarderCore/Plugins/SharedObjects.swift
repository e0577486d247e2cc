import LarderSystem

/// The objects that the plugins of one pantry share, by type and name. It does not keep them alive.
final class SharedObjects: Sendable {
    private struct Name: Hashable {
        let type: ObjectIdentifier
        let name: String
    }

    private struct Reference {
        weak var object: (any AnyObject & Sendable)?
    }

    private let references = Locked<[Name: Reference]>([:])

    /// Returns the object of this type and name, or a new one if nobody uses one.
    func object<Object: AnyObject & Sendable>(_ name: String, _ make: () throws -> Object) rethrows -> Object {
        let name = Name(type: ObjectIdentifier(Object.self), name: name)
        if let object = references.withLock({ $0[name]?.object as? Object }) { return object }
        // `make` runs outside the lock, because it is a plugin's code.
        let new = try make()
        return references.withLock { references -> (Object, [Name: any AnyObject & Sendable]) in
            if let object = references[name]?.object as? Object { return (object, [:]) }
            // These may be the last references to objects, so they leave the lock: `deinit` is a plugin's code, too.
            let living = references.compactMapValues(\.object)
            references = references.filter { living[$0.key] != nil }
            references[name] = Reference(object: new)
            return (new, living)
        }.0
    }
}
