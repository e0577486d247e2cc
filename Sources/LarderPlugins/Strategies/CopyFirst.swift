import LarderCore

/// A loader that shows the copy if a rule says so, and otherwise asks the origin and waits.
struct CopyFirst: Loader {
    let rule: HitRule
    let sides: Sides
    let patience: Duration?
    let linger: Duration

    var hitRule: HitRule? { rule }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let copy = try await sides.copy(call)
        if let shown = rule.shown(copy, call) { return shown }
        return try await sides.load(call.knowing(copy?.revalidatable), patience: patience, linger: linger)
    }
}
