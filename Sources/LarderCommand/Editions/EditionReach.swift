import Larder
import LarderEditions

extension Subcommand.Call {
    /// Checks an edition as an app with these policies would: it must be sound, and change nothing that is out of its reach.
    ///
    /// - Throws: ``PolicyError`` with all problems.
    func checkReach(of edition: EditionFile, in folder: String) throws {
        let reach = try appChannel(in: folder)?.reach ?? Set(Editions.usualReach)
        try arguments.reader(registry, folder).supplied(edition.texts, within: reach)
    }
}
