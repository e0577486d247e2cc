import Larder
import LarderEditions
import LarderSystem

extension Subcommand {
    static let publishEdition = Subcommand(
        name: "publish", operands: "CHANNEL EDITION",
        summary: "Offers an edition to a share of installations; makes the channel if it is new",
        options: [
            .share,
            Command.Option(
                "control", value: "SHARE",
                help: "The share of installations to compare with, which keep what they have (default: none)"),
            Command.Option("ring", value: "NAME", help: "Only installations in this ring; repeatable (default: all)"),
            .key, .keys, .until,
        ],
        run: { call in
            let (path, source) = (call.operands[0], call.operands[1])
            let file = try call.signedFile(.edition, at: source)
            let edition: EditionFile
            do { edition = try EditionFile(reading: file) } catch { throw CommandFailure("\(source): \(error)") }
            if file.keyIDs.isEmpty { throw CommandFailure("\(source) is not signed: 'larder edition sign' signs it") }
            guard let share = try call.share(of: "share") else {
                throw UsageError(message: "--share is missing: it takes a share such as 5%")
            }
            guard share > 0 else { throw UsageError(message: "--share takes a share above 0%") }
            let control = try call.share(of: "control") ?? 0
            guard share + control <= 1 else {
                throw UsageError(message: "--share and --control are more than 100% together")
            }
            let (folder, name) = Disk.split(source)
            guard folder == Disk.split(path).folder else {
                throw CommandFailure("\(source) must lie next to \(path), as on the web server")
            }
            var editing = try ChannelEditing(path, orNew: edition.channel, call: call)
            guard editing.channel.name == edition.channel else {
                throw CommandFailure("\(source) is for channel \(edition.channel), not \(editing.channel.name)")
            }
            try editing.verify(file, at: source)
            var others = editing.channel.editions
            if others.contains(where: { $0.digest == file.digest && $0.to.share > 0 }) {
                throw CommandFailure("\(path) offers \(source) already; 'larder channel grow' raises its share")
            }
            // An edition that was halted begins anew, with other installations.
            others.removeAll { $0.digest == file.digest }
            let rings = call.arguments.values(of: "ring")
            let listed = ChannelFile.Listed(
                digest: file.digest, at: name,
                to: .init(
                    rings: rings.isEmpty ? nil : rings, share: share, control: control,
                    salt: "\(edition.number)-\(editing.channel.revision + 1)"))
            guard others.count < ChannelFile.mostEditions else {
                throw CommandFailure("\(path) has \(others.count) editions, which is the most")
            }
            editing.channel.editions = [listed] + others
            let usualName = "\(edition.channel).channel"
            if Disk.split(path).name != usualName {
                call.terminal.note("warning: apps look for the channel under the name \(usualName)")
            }
            let over = editing.endEmergency()
            try editing.write(
                ["\(listed.title([file.digest: edition.number])) for \(listed.to.inWords)"] + over + [
                    "upload \(name) before the channel"
                ])
            return true
        })
}

extension ChannelEditing {
    /// Fails if a signature of an edition is wrong, or if `--keys` names none of its signers.
    fileprivate func verify(_ file: SignedFile, at path: String) throws {
        let asked = try call.publicKeys()
        do {
            _ = try file.signers(among: asked + keys.map(\.publicKey))
        } catch let error as EditionError where error.code != .unknownKey || !asked.isEmpty {
            throw CommandFailure("\(path): \(error)")
        } catch is EditionError {
            // A release key signed it, and another one signs the channel.
        }
    }
}
