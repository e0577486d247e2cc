import Larder
import LarderEditions
import LarderFoundation

extension Subcommand.Call {
    /// Checks an edition as an app with these policies would: it must be sound, and change nothing that is out of its reach.
    ///
    /// - Throws: ``PolicyError`` with all problems.
    func checkReach(of edition: EditionFile, in folder: String) throws {
        let reader = PolicyReader(registry: registry, folder: folder, environment: arguments.environment)
        let section = try reader.process().sections.first { $0.plugin.name == Plugin.channel.name }
        var reach = Editions.usualReach
        if case .list(let keys)? = section?.node["reach"]?.content { reach = keys.compactMap(\.string) }
        try reader.supplied(edition.texts, within: Set(reach))
    }
}
