import Larder
import LarderSimulation
import LarderSync

/// The breach of a promise about changes of records.
struct RecordBreach: Sendable {
    /// The breach in words.
    let words: String
    /// The setting by which the promise would hold; nil if none is known.
    let remedy: String?

    init(_ words: String, remedy: String? = nil) { (self.words, self.remedy) = (words, remedy) }
}

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
    /// The changes that are kept as letters.
    let letters: [Change]
    /// The number of changes that still wait, besides those about which the app must decide.
    let waiting: Int
    /// The reasons for which the device has kept no change, in words.
    let refusals: [String]
    /// The steps and troubles that had no effect.
    let idle: [RecordStory.Step]
    /// The number of calls that the service could not read.
    let misunderstood: Int
    /// The ways in which the device shows something else than the service has.
    let differences: [RecordBreach]
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

    private func isKept(_ change: Change) -> Bool {
        // The service may have named the record meanwhile, but nobody else writes the value.
        change.value == nil ? letters.contains(change) : letters.contains { $0.value == change.value }
    }

    /// The loss of a change; nil if none was lost.
    var loss: RecordBreach? {
        if let refusal = refusals.first { return RecordBreach("the device keeps no change: \(refusal)") }
        if waiting > 0 { return RecordBreach("\(waiting) \(waiting == 1 ? "change waits" : "changes wait") for ever") }
        let isLost = lastChanges.contains { change in
            !made.contains { isMade($0, of: change) } && !isKept(change)
                && !(change.value == nil && made.contains { $0.id == change.id && $0.change == nil })
        }
        return isLost ? RecordBreach("a change is neither at the service nor kept as a letter") : nil
    }

    /// The repetition of a change; nil if none was made twice.
    var repetition: RecordBreach? {
        let counts = changes.map { change in made.count { isMade($0, of: change) } }
        guard let most = counts.max(), most > 1 else { return nil }
        return RecordBreach(
            "the service has made one change \(most == 2 ? "twice" : "\(most) times")",
            remedy: "send a key with each change, which the service knows, or let clients name records "
                + "(\"ids\": \"client\")")
    }

    /// The loss of another device's change; nil if none was lost.
    var overwriting: RecordBreach? {
        if made.contains(where: \.isBlind) {
            return RecordBreach(
                "a change of another device is replaced by one that had not seen it",
                remedy: "send the version of the record with each change (\"version\"), which the service compares")
        }
        return differences.first
    }

    /// The reason for which a change never reaches the service; nil if all do, or if they are kept as letters.
    var unsent: RecordBreach? {
        waiting > 0 ? RecordBreach("a change never reaches the service") : nil
    }

    /// The time after which the last change reached the service; nil if none did, or if it never will.
    var sentAfter: Duration? {
        let last = made.filter { $0.change != nil }.map(\.time).max()
        return last.map { .milliseconds(max(0, $0 - start)) }
    }
}
