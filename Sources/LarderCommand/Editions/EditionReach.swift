import Larder
import LarderEditions

extension Subcommand.Call {
    /// Checks an edition as an app with the policies in a folder would: it must be sound, and change nothing that is out of
    /// its reach.
    ///
    /// - Parameters:
    ///   - texts: the policies of the edition, by the names of their resources.
    ///   - place: the file or folder that they are from, which problems name.
    /// - Throws: ``PolicyError`` with all problems.
    func checkReach(of texts: [String: String], from place: String, in folder: String) throws {
        let reach = try appChannel(in: folder)?.reach ?? Set(Editions.usualReach)
        do { try arguments.reader(registry, folder).supplied(texts, within: reach) } catch {
            let names = Dictionary(
                uniqueKeysWithValues: texts.keys.map { ("\(folder)/\($0).json", "\(place)/\($0).json") })
            throw PolicyError(
                error.problems.map { problem in
                    var problem = problem
                    problem.file = names[problem.file] ?? problem.file
                    return problem
                })
        }
    }
}
