import Larder

@testable import LarderSync

/// The values that a user has replaced, and must not see again: their own change is shown until somebody else's takes its
/// place, or they are told that it does not stay.
struct WorldView {
    private let device: WorldDevice
    private var left: [(id: String, field: String, value: String)] = []
    private var toldCount = 0

    init(_ device: WorldDevice) { self.device = device }

    /// Notes the value that a change has replaced.
    mutating func leave(_ write: WorldPlay.Write) {
        // Somebody else may make a record anew as it was.
        if device.network.rules.conflict == "client-wins" { return }
        if let seen = write.seen { left.append((write.id, write.field, seen)) }
    }

    /// Forgets all, because the user looks at something else.
    mutating func forget() { left = [] }

    /// Looks at all records.
    ///
    /// - Throws: ``WorldViolation`` if a value is there again.
    mutating func look() async throws {
        let (told, names) = device.state.withLock { ($0.told, $0.names) }
        for told in told.dropFirst(toldCount) {
            switch told.kind {
            case .conflict, .overtaken, .rejected, .expired:
                left.removeAll { (names[$0.id] ?? $0.id) == names[told.id ?? ""] ?? told.id }
            default: break
            }
        }
        toldCount = told.count
        if device.hasEnded || device.state.withLock({ $0.account }) == nil { return }
        guard let shown = try? await device.shown() else { return }
        for value in left {
            let id = names[value.id] ?? value.id
            guard let record = shown.first(where: { (names[$0.id] ?? $0.id) == id }) else { continue }
            if record.value[value.field]?.string == value.value {
                throw WorldViolation(text: "\(device.number) shows \(value.value) of \(id) again")
            }
        }
    }
}
