import Larder
import LarderEditions
import LarderSystem

extension Terminal {
    /// Tells which edition is in effect, and then each event of the editions, until the pantry closes.
    ///
    /// - Returns: the work; nil if the pantry has no channel.
    func tellEditions(of pantry: Pantry, in world: any World) -> Task<Void, Never>? {
        guard let editions = pantry.editions else { return nil }
        let events = editions.events
        let state = editions.running.map {
            "edition \($0) is in effect, \(editions.isTrial ? "on trial" : "confirmed")"
        }
        note(state ?? "the policies of the folder are in effect, and no edition")
        return world.spawn { for await event in events { note(event.description) } }
    }
}
