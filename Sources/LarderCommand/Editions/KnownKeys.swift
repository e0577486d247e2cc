import Larder
import LarderEditions
import LarderSystem

/// The public keys that apps know.
struct KnownKeys {
    /// The keys that may sign editions and channels. Those of `--keys` are among them.
    var release: [PublicKey] = []
    /// The keys that may sign channels only.
    var steer: [PublicKey] = []
    /// Whether the app carries an emergency edition; nil if the app is not known.
    var carriesEmergency: Bool?

    var all: [PublicKey] { release + steer }

    /// Returns the keys that signed an edition. If no key is known, they are among `own`.
    ///
    /// - Throws: ``CommandFailure`` if apps would refuse the edition.
    func signers(ofEdition file: SignedFile, at path: String, own: [PublicKey] = []) throws -> [PublicKey] {
        if file.keyIDs.isEmpty { throw CommandFailure("\(path) is not signed: 'larder edition sign' signs it") }
        if let key = steer.first(where: { file.keyIDs.contains($0.id) }),
            !release.contains(where: { file.keyIDs.contains($0.id) })
        {
            throw CommandFailure("\(path) is signed by the steer key \(key.id), and apps want a release key")
        }
        return try signers(of: file, at: path, among: release, own: own)
    }

    /// Returns the keys that signed a channel. If no key is known, they are among `own`.
    func signers(ofChannel file: SignedFile, at path: String, own: [PublicKey] = []) throws -> [PublicKey] {
        try signers(of: file, at: path, among: all, own: own, hint: "; the one on the web server is the one to change")
    }

    private func signers(
        of file: SignedFile, at path: String, among known: [PublicKey], own: [PublicKey], hint: String = ""
    ) throws -> [PublicKey] {
        do { return try file.signers(among: known.isEmpty ? own : known) } catch let error as EditionError {
            guard error.code == .unknownKey, known.isEmpty, !file.keyIDs.isEmpty else {
                throw CommandFailure("\(path): \(error)\(hint)")
            }
            throw CommandFailure(
                "\(path) was signed by another key (\(file.keyIDs.joined(separator: ", "))), and no key of the app is "
                    + "known: --policies DIR or --keys KEY,… names them")
        }
    }
}

extension Subcommand.Call {
    /// The keys that apps with a channel of this name know: those of `--keys`, and those in the folder of `--policies`.
    func knownKeys(of name: String) throws -> KnownKeys {
        let named = try publicKeys()
        let isAsked = arguments.value(of: "policies") != nil
        let folder = arguments.folder
        // The usual folder need not be there, and can be that of another app.
        if !isAsked, !named.isEmpty || Disk.item(folder + "/_larder.json") == nil {
            if named.isEmpty {
                terminal.note(
                    "warning: the keys of the app are not known: --policies DIR or --keys KEY,… checks with them")
            }
            return KnownKeys(release: named)
        }
        let channel: AppChannel?
        do { channel = try appChannel(in: folder) } catch {
            for problem in error.problems { terminal.note(problem.description) }
            throw CommandFailure(
                "\(folder)/_larder.json has errors, so the keys in it are not known; --keys names them")
        }
        guard let app = channel else {
            if isAsked, named.isEmpty {
                throw CommandFailure("\(folder)/_larder.json has no section 'channel', which names the keys of the app")
            }
            return KnownKeys(release: named)
        }
        guard app.name == name else {
            if !isAsked { return KnownKeys() }
            throw CommandFailure("\(folder)/_larder.json is for the channel \(app.name), not \(name)")
        }
        return KnownKeys(
            release: app.release + named, steer: app.steer.filter { !app.release.contains($0) },
            carriesEmergency: app.carriesEmergency)
    }

    /// Returns the channel of an app with these policies; nil if it has none.
    func appChannel(in folder: String) throws(PolicyError) -> AppChannel? {
        try AppChannel(arguments.reader(registry, folder))
    }
}
