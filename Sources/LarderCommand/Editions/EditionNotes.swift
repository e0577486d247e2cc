import Larder
import LarderEditions
import LarderSystem

extension Terminal {
    /// The time between two questions for the channel while somebody watches.
    private static let pause = Duration.seconds(10)

    /// Tells which edition is in effect, and then each event of the editions, until the pantry closes.
    ///
    /// - Parameter isWatching: whether the channel is asked for often, so that changes are seen soon.
    /// - Returns: the work, which ends when the pantry was closed and it is cancelled. It is empty if the pantry has no channel.
    func tellEditions(of pantry: Pantry, isWatching: Bool, in world: any World) -> [Task<Void, Never>] {
        guard let editions = pantry.editions else { return [] }
        let events = editions.events
        let state = editions.running.map {
            "edition \($0) is in effect, \(editions.isTrial ? "on trial" : "confirmed")"
        }
        note(state ?? "the policies of the folder are in effect, and no edition")
        let telling = world.spawn { for await event in events { note(event.description) } }
        if !isWatching { return [telling] }
        let asking = world.spawn {
            var told: String?
            while !Task.isCancelled {
                await editions.poll()
                let answer = Self.answer(editions.facts)
                if answer != told { note(answer) }
                told = answer
                try? await world.sleep(for: Self.pause)
            }
        }
        return [telling, asking]
    }

    /// The state of the channel in words.
    static func answer(_ facts: [String: String]) -> String {
        let name = facts["channel"] ?? "?"
        if let pin = facts["pin"] { return "edition \(pin) is pinned, whatever channel \(name) says" }
        if let failure = facts["channel_failure"] { return "channel \(name) is not used: \(failure)" }
        let revision = "channel \(name) has revision \(facts["revision"] ?? "?")"
        guard let offered = facts["offered"] else { return revision + " and offers no edition here" }
        let others = facts["arm"] == "trial" ? "" : " to a share to which this installation does not belong"
        let fate = facts["fate"].map { ", which is not used here: \($0), \(facts["why"] ?? "?")" } ?? ""
        return revision + " and offers edition \(offered)" + others + fate
    }
}
