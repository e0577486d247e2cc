import Foundation
import Larder

/// A program that prints the state of the network and each new one, a line each. `Tests/network` changes the network under
/// it.
@main struct NetworkRun {
    static func main() async throws {
        let world = SystemWorld()
        // The first state must be true at once.
        try say("first", world.network)
        for await state in world.networkChanges { try say("then", state) }
    }

    /// Writes a line without a buffer, so that the reader gets it at once.
    private static func say(_ word: String, _ state: NetworkState) throws {
        let line = "\(word) \(state.reach.rawValue) \(state.kind?.rawValue ?? "-")\n"
        try FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
    }
}
