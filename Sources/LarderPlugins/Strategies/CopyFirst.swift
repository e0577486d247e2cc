import LarderCore

/// A loader that shows the copy if a rule says so, and otherwise asks the origin and waits.
struct CopyFirst: Loader {
    private let rule: HitRule
    private let sides: Sides
    private let patience: Duration?
    private let linger: Duration

    init(_ rule: HitRule, over sides: Sides, patience: Duration?, linger: Duration) {
        self.rule = rule
        self.sides = sides
        self.patience = patience
        self.linger = linger
    }

    var hitRule: HitRule? { rule }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let copy = try await sides.copy(call)
        if let shown = rule.shown(copy, call) { return shown }
        return try await sides.load(call.knowing(copy?.revalidatable), patience: patience, linger: linger)
    }
}
