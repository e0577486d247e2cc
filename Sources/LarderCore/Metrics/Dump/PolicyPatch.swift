// The differences between two policies, as a merge patch (RFC 7396). In a dump, the policies of old revisions are written
// as differences from the one that follows, because they have most lines in common.

extension JSON {
    /// Returns the merge patch that turns `base` into this value. Returns nil if there is none, because a `null` of
    /// this value would remove a member.
    func patch(from base: JSON) -> JSON? {
        guard case .object(let members) = self, case .object(let old) = base else { return hasNull ? nil : self }
        var changes: [Member] = []
        for member in members {
            guard let former = old.first(where: { $0.name == member.name })?.value else {
                if member.value.hasNull { return nil }
                changes.append(member)
                continue
            }
            if former == member.value { continue }
            guard let change = member.value.patch(from: former) else { return nil }
            changes.append(Member(member.name, change))
        }
        let names = Set(members.map(\.name))
        return .object(changes + old.filter { !names.contains($0.name) }.map { Member($0.name, .null) })
    }

    /// Returns this value with a merge patch applied to it.
    func applying(_ patch: JSON) -> JSON {
        guard case .object(let changes) = patch else { return patch }
        var members: [Member] = []
        if case .object(let own) = self { members = own }
        var places = Dictionary(members.indices.map { (members[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        var removed: Set<Int> = []
        for change in changes {
            if let place = places[change.name] {
                if change.value == .null {
                    removed.insert(place)
                } else {
                    members[place].value = members[place].value.applying(change.value)
                }
            } else if change.value != .null {
                places[change.name] = members.count
                members.append(Member(change.name, JSON.null.applying(change.value)))
            }
        }
        return .object(members.indices.filter { !removed.contains($0) }.map { members[$0] })
    }

    private var hasNull: Bool {
        switch self {
        case .null: true
        case .list(let items): items.contains(where: \.hasNull)
        case .object(let members): members.contains(where: \.value.hasNull)
        default: false
        }
    }
}
