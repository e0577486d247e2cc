import Larder
import LarderSimulation
import LarderSync

/// The end of a history of records: what users changed, and what became of it.
struct RecordHistory: Sendable {
    /// A change of the user that was kept.
    struct Change: Hashable, Sendable {
        /// The id of the record at that time.
        let id: String
        /// A value that nobody else writes; nil if the record was deleted.
        let value: String?
    }

    let changes: [Change]
    /// The changes that the service has made.
    let made: [SimulatedService.Made]
    /// The ids of the records whose changes are kept as letters.
    let letters: [String]
    /// The number of changes that still wait, besides those about which the app must decide.
    let waiting: Int
    /// The reasons for which the device has kept no change, in words.
    let refusals: [String]
    /// The steps and troubles that had no effect.
    let idle: [RecordStory.Step]
    /// The ways in which the device shows something else than the service has.
    let differences: [String]
    /// The time of the last change, or that at which there was a network again, in milliseconds since 1970.
    let start: Int64

    /// The last change of each record. Earlier ones became part of it.
    private var lastChanges: [Change] {
        changes.indices.filter { place in !changes[(place + 1)...].contains { $0.id == changes[place].id } }.map {
            changes[$0]
        }
    }

    private func isMade(_ made: SimulatedService.Made, of change: Change) -> Bool {
        guard let sent = made.change else { return false }
        guard let value = change.value else { return sent.kind == .delete && sent.id?.name == change.id }
        return sent.values[["title"]]?.string == value
    }

    /// The loss of a change; nil if none was lost.
    var loss: String? {
        if let refusal = refusals.first { return "the device keeps no change: \(refusal)" }
        if waiting > 0 { return "\(waiting) \(waiting == 1 ? "change waits" : "changes wait") for ever" }
        let lost = lastChanges.first { change in
            !made.contains { isMade($0, of: change) } && !letters.contains(change.id)
                && !(change.value == nil && made.contains { $0.id == change.id && $0.change == nil })
        }
        return lost.map { _ in "a change is neither at the service nor kept as a letter" }
    }

    /// The repetition of a change; nil if none was made twice.
    var repetition: String? {
        let counts = changes.map { change in made.count { isMade($0, of: change) } }
        guard let most = counts.max(), most > 1 else { return nil }
        return "the service has made one change \(most == 2 ? "twice" : "\(most) times")"
    }

    /// The loss of another device's change; nil if none was lost.
    var overwriting: String? {
        if made.contains(where: \.isBlind) {
            return "a change of another device is replaced by one that had not seen it"
        }
        return differences.first
    }

    /// The reason for which a change never reaches the service; nil if all do, or if they are kept as letters.
    var unsent: String? {
        waiting > 0 ? "a change never reaches the service" : nil
    }

    /// The time after which the last change reached the service; nil if none did, or if it never will.
    var sentAfter: Duration? {
        let last = made.filter { $0.change != nil }.map(\.time).max()
        return last.map { .milliseconds(max(0, $0 - start)) }
    }
}
