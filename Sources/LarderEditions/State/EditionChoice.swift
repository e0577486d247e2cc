import Larder

/// The edition that an installation is to have.
struct EditionChoice: Sendable {
    /// The edition; nil for the app's own policies.
    var edition: KeptEdition?
    /// The edition to fetch.
    var missing: ChannelFile.Listed?
    /// The edition that the channel offers first.
    var offer: EditionFacts.Offer?
    /// The channel, if there is one.
    var channel: ChannelFile?
    /// The number that the app has chosen; nil if the channel decides.
    var pin: Int?
}

extension EditionMachine {
    /// Returns the edition that is to be in effect: the pinned one, else the first one of the channel that is for
    /// this installation. While the channel tells of an emergency, it is the one that the app carries, or none.
    ///
    /// - Parameter failed: the digests of editions that could not be fetched.
    /// - Throws: the error of the disk, if a file that is needed for the choice cannot be read now.
    func choice(
        _ state: EditionState, at now: Timestamp, without failed: Set<String> = []
    ) throws -> EditionChoice {
        // An older file may have come back from a backup.
        let newest = try kept.channel()?.channel
        var choice = EditionChoice(channel: newest.flatMap { $0.revision < state.revision ? nil : $0 })
        if let pin = rules.pin ?? state.pin {
            choice.pin = pin
            if pin == 0 { return choice }
            choice.edition = try pinned(pin, state)
            if choice.edition != nil { return choice }
            choice.missing = choice.channel?.editions.first {
                number(ofFile: $0.at) == pin && !failed.contains($0.digest)
            }
            choice.edition = try state.current.flatMap(edition)
            return choice
        }
        // An old channel changes nothing.
        guard let channel = choice.channel, channel.until > now else {
            choice.edition = try state.current.flatMap(edition)
            return choice
        }
        if channel.isEmergency {
            guard let emergency = rules.emergency else { return choice }
            let offer = offer(emergency.digest, kept: emergency, arm: .trial, in: state)
            choice.offer = offer
            if offer.rejection == nil, offer.need == nil { choice.edition = emergency }
            return choice
        }
        for listed in channel.editions where listed.to.rings?.contains(rules.ring) ?? true {
            // It was taken back.
            if listed.to.share == 0, listed.to.control == 0 { continue }
            let arm = EditionArm(of: state.installation, in: listed.to)
            if arm != .trial, choice.offer != nil { continue }
            let kept = try edition(listed.digest)
            var offer = offer(listed.digest, kept: kept, arm: arm, in: state)
            offer.number = offer.number ?? number(ofFile: listed.at)
            choice.offer = choice.offer ?? offer
            guard arm == .trial, offer.rejection == nil else { continue }
            if let kept, offer.need == nil {
                choice.edition = kept
                return choice
            }
            if kept == nil, choice.missing == nil, !failed.contains(listed.digest) { choice.missing = listed }
        }
        return choice
    }

    /// Returns the edition with a number that can be used here.
    func pinned(_ number: Int, _ state: EditionState) throws -> KeptEdition? {
        if let running, running.edition.number == number { return running }
        return try kept.editions(numbered: number).first {
            rejection(of: $0.digest, state) == nil && fit.need(of: $0, knowing: state) == nil
        }
    }

    /// Returns the number in the usual name of an edition's file, such as `shop-42.edition`; nil for another name.
    private func number(ofFile name: String) -> Int? {
        let (start, end) = (rules.name + "-", ".edition")
        return name.hasPrefix(start) && name.hasSuffix(end) ? Int(name.dropFirst(start.count).dropLast(end.count)) : nil
    }

    /// Returns an edition of this installation. The one in effect was verified already.
    private func edition(_ digest: String) throws -> KeptEdition? {
        if let running, running.digest == digest { return running }
        return try kept.edition(digest)
    }

    private func offer(
        _ digest: String, kept: KeptEdition?, arm: EditionArm, in state: EditionState
    ) -> EditionFacts.Offer {
        EditionFacts.Offer(
            number: kept?.edition.number, digest: digest, arm: arm, rejection: rejection(of: digest, state),
            need: kept.flatMap { fit.need(of: $0, knowing: state) })
    }

    /// Returns why an edition is not taken here; nil if it may be taken.
    private func rejection(of digest: String, _ state: EditionState) -> EditionState.Rejection? {
        (rejections + state.rejections).first { rejection in
            guard rejection.digest == digest else { return false }
            guard let own = rejection.own else { return true }
            return own == self.own && rejection.plugins == fit.digest
        }
    }
}
