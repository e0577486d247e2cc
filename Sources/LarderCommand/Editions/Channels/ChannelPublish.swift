import Larder
import LarderEditions
import LarderSystem

extension Subcommand {
    static let publishEdition = Subcommand(
        name: "publish", operands: "CHANNEL EDITION", summary: "Offers an edition to a share of installations",
        options: [
            .share,
            Command.Option(
                "control", value: "SHARE",
                help: "The share of installations to compare with, which keep what they have (default: none)"),
            Command.Option("ring", value: "NAME", help: "Only installations in this ring; repeatable (default: all)"),
            Command.Option("new", help: "Make the channel. No app has one of this name yet"),
            .key, .keys, .appPolicies, .until,
        ],
        example: "shop.channel shop-42.edition --share 5% --key release.pem",
        run: { call in
            let (path, source) = (call.operands[0], call.operands[1])
            let audience = try call.audience()
            let (file, edition) = try call.edition(at: source)
            let (folder, name) = Disk.split(source)
            guard folder == Disk.split(path).folder else {
                throw CommandFailure("\(source) must lie next to \(path), as on the web server")
            }
            var editing = try call.editing(path, for: edition)
            try editing.check(file, at: source)
            try editing.refuseOtherContent(of: edition, file, called: name)
            editing.offer(file, called: name, to: audience, salt: "\(edition.number)-\(editing.channel.revision + 1)")
            guard editing.channel.editions.count <= ChannelFile.mostEditions else {
                throw CommandFailure("\(path) has \(ChannelFile.mostEditions) editions, which is the most")
            }
            let usualName = "\(edition.channel).channel"
            if Disk.split(path).name != usualName {
                call.terminal.note("warning: apps look for the channel under the name \(usualName)")
            }
            let listed = editing.channel.editions[0]
            let over = editing.endEmergency()
            try editing.write(
                ["\(listed.title([file.digest: edition.number])) for \(listed.to.inWords)"] + over + [
                    "upload \(name)"
                ])
            return true
        })
}

extension Subcommand.Call {
    /// The installations that the options choose.
    fileprivate func audience() throws(UsageError) -> ChannelFile.Audience {
        guard let share = try share(of: "share") else {
            throw UsageError(message: "--share is missing: it takes a share such as 5%")
        }
        guard share > 0 else {
            throw UsageError(message: "--share takes a share above 0%; 'halt' takes an edition back")
        }
        let control = try self.share(of: "control") ?? 0
        guard share + control <= 1 else {
            throw UsageError(message: "--share and --control are more than 100% together")
        }
        let rings = arguments.values(of: "ring")
        var seen: Set<String> = []
        for ring in rings {
            try requireName(ring, of: "ring")
            guard seen.insert(ring).inserted else { throw UsageError(message: "--ring \(ring) is given twice") }
        }
        return .init(rings: rings.isEmpty ? nil : rings, share: share, control: control, salt: "")
    }

    /// Begins to change the channel of an edition.
    fileprivate func editing(_ path: String, for edition: EditionFile) throws -> ChannelEditing {
        let isThere = Disk.item(path) != nil
        if arguments.has("new") {
            if isThere { throw CommandFailure("\(path) is there already; --new is for a channel that no app has yet") }
            return try ChannelEditing(path, new: edition.channel, call: self)
        }
        guard isThere else {
            throw CommandFailure(
                "\(path) is missing. Fetch the channel from the web server first, because apps never go back to a lower "
                    + "revision. Only if there is none yet, --new makes it")
        }
        let editing = try ChannelEditing(path, call: self)
        guard editing.channel.name == edition.channel else {
            throw CommandFailure("the edition is for channel \(edition.channel), not \(editing.channel.name)")
        }
        return editing
    }
}

extension ChannelEditing {
    /// Fails if apps would refuse an edition, or if no release key signs the channel.
    fileprivate func check(_ file: SignedFile, at path: String) throws {
        _ = try known.signers(ofEdition: file, at: path, own: own)
        guard known.steer.isEmpty || own.contains(where: known.release.contains) else {
            throw CommandFailure("a steer key does not publish; --key takes a release key here")
        }
    }

    /// Fails if the channel has another edition of that number or file.
    fileprivate func refuseOtherContent(of edition: EditionFile, _ file: SignedFile, called name: String) throws {
        let numbers = numbers
        for listed in channel.editions {
            if listed.digest == file.digest {
                guard listed.to.share > 0 else { continue }
                throw CommandFailure("\(path) offers \(name) already; 'larder channel grow' raises its share")
            }
            if listed.at == name || numbers[listed.digest] == edition.number {
                throw CommandFailure(
                    "\(path) lists \(listed.title(numbers)) with other content; give the new edition another number")
            }
        }
        if let newest = numbers.values.max(), newest > edition.number {
            call.terminal.note(
                "warning: edition \(edition.number) now comes before edition \(newest), which has a higher number")
        }
    }

    /// Puts an edition before all others. One that was halted begins anew, with other installations.
    fileprivate mutating func offer(
        _ file: SignedFile, called name: String, to audience: ChannelFile.Audience, salt: String
    ) {
        var listed = ChannelFile.Listed(digest: file.digest, at: name, to: audience)
        listed.to.salt = salt
        channel.editions.removeAll { $0.digest == file.digest }
        channel.editions.insert(listed, at: 0)
    }
}
