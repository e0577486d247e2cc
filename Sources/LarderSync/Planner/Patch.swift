import Larder

/// The changes that a user made to a record: what, and from which values. A place and the places inside it are never
/// both changed.
struct Patch: Hashable, Sendable {
    /// The changes, in the order of their paths.
    private(set) var changes: [FieldChange] = []

    init(_ changes: [FieldChange] = []) {
        self.changes = changes.sorted { $0.path.precedes($1.path) }
    }

    /// Finds the differences between two texts of a record. Objects are compared member by member, so that what the app's
    /// type does not know stays as it is.
    ///
    /// - Parameters:
    ///   - shown: the record as the user saw it. The values before the changes are its.
    ///   - ignored: the places that are never changed, such as the id.
    init(from old: JSONText, to new: JSONText, shown: JSONText, ignoring ignored: [[String]]) {
        var changes: [FieldChange] = []
        var places: [(path: [String], old: JSONText?, new: JSONText?, shown: JSONText?)] = [([], old, new, shown)]
        while let (path, old, new, shown) = places.popLast() {
            if ignored.contains(where: { $0.isSamePlace(as: path) }) || old.meansSame(as: new) { continue }
            if let old, let new, old.kind == .object, new.kind == .object {
                var news = Self.members(new)
                let shown = Self.members(shown)
                for (name, old) in Self.members(old) {
                    places.append(
                        (path + [old.name], old.value, news.removeValue(forKey: name)?.value, shown[name]?.value))
                }
                for (name, new) in news { places.append((path + [new.name], nil, new.value, shown[name]?.value)) }
                continue
            }
            // An app that writes no member for an empty value has not removed the `null` that the service wrote.
            if new == nil, shown == nil || shown?.kind == .null { continue }
            changes.append(FieldChange(path: path, before: shown, after: new))
        }
        self.init(changes)
    }

    /// Returns the members of an object by the bytes of their names.
    private static func members(_ object: JSONText?) -> [[UInt8]: (name: String, value: JSONText)] {
        Dictionary((object?.members ?? []).map { (Array($0.name.utf8), $0) }) { first, _ in first }
    }

    var isEmpty: Bool { changes.isEmpty }

    /// Returns the change of a place; nil if it is not changed.
    subscript(path: [String]) -> FieldChange? { changes.first { $0.path.isSamePlace(as: path) } }

    /// Returns a record with the changes.
    func applied(to record: JSONText) -> JSONText {
        record.setting(changes.map { ($0.path, $0.after) })
    }

    /// Returns a record with the values before the changes.
    func undone(in record: JSONText) -> JSONText {
        record.setting(changes.map { ($0.path, $0.before) })
    }

    /// Returns the changes of both, one after the other, as one. Changes that undo each other vanish.
    func merged(with later: Patch) -> Patch {
        var merged = changes
        for change in later.changes {
            if let place = merged.firstIndex(where: { change.path.isPlace(in: $0.path) }) {
                // Inside a place that was changed before, or the place itself.
                let inner = Array(change.path.dropFirst(merged[place].path.count))
                merged[place].after =
                    inner.isEmpty ? change.after : (merged[place].after ?? .object).setting(inner, to: change.after)
            } else {
                var change = change
                // It replaces a place inside of which something was changed before.
                for inner in merged where inner.path.isPlace(in: change.path) {
                    change.before = change.before?.setting(
                        Array(inner.path.dropFirst(change.path.count)), to: inner.before)
                }
                merged.removeAll { $0.path.isPlace(in: change.path) }
                merged.append(change)
            }
        }
        return Patch(merged.filter { !$0.isEmpty })
    }

    /// Returns the patch with a change in place of any change of the same place.
    func setting(_ change: FieldChange) -> Patch {
        Patch(changes.filter { !$0.path.isSamePlace(as: change.path) } + (change.isEmpty ? [] : [change]))
    }

    /// Returns the patch with the name of a record that the service has named in place of the former one.
    func replacing(_ former: String, with id: JSONText) -> Patch {
        Patch(
            changes.map {
                FieldChange(
                    path: $0.path.map { $0.replacing(former, with: id.name ?? former) },
                    before: $0.before?.replacing(former, with: id),
                    after: $0.after?.replacing(former, with: id))
            })
    }
}
