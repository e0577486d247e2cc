import LarderSystem

extension PantryAttachments {
    /// The attachment that supplies policies; nil if there is none. Of several, the first in the order of registration.
    var supply: (any PolicySupply)? { all.lazy.compactMap { $0.attachment(as: (any PolicySupply).self) }.first }
}

extension Pantry {
    /// The largest number of sets of supplied policies that are tried one after the other.
    private static let mostSupplies = 8

    /// Composes the policies that an attachment supplies, and puts them in effect. Of several sets, this is the first one
    /// that can be composed. Blocks.
    ///
    /// - Parameter folder: the app's own policies.
    /// - Returns: the changes; nil if the app's own policies are to be in effect.
    func install(
        suppliedBy supply: any PolicySupply, in folder: PolicyFolder, settings: ProcessSettings,
        with attachments: PantryAttachments, removing removed: Set<String>
    ) throws(PolicyError) -> [PolicyChange]? {
        let mark = String(KeptPolicies.digest(of: folder.texts).prefix(16))
        for _ in 0..<Self.mostSupplies {
            let own = try folder.whole()
            guard let texts = supply.supply(over: mark) else { return nil }
            let policies: [Policy]
            do throws(PolicyError) {
                policies = try Self.supplied(texts, over: own, in: folder, within: PolicyReach(keys: supply.reach))
            } catch {
                supply.supplied(.refused(error))
                continue
            }
            func install(_ policies: [Policy], isTrial: Bool) throws(PolicyError) -> [PolicyChange] {
                try self.install(
                    PolicyFolder.Changes(policies: policies, removed: removed), settings: settings, with: attachments,
                    isTrial: isTrial)
            }
            do throws(PolicyError) {
                let changes = try install(policies, isTrial: false)
                supply.supplied(.inEffect)
                return changes
            } catch {
                // A fault that the app's own policies have, too, such as a folder that cannot be used, is no refusal.
                do throws(PolicyError) { _ = try install(own, isTrial: true) } catch {
                    supply.supplied(.untried)
                    throw error
                }
                supply.supplied(.refused(error))
            }
        }
        return nil
    }

    /// Reads supplied policies.
    ///
    /// - Throws: ``PolicyError`` with all problems, also with those of what they may not change.
    fileprivate static func supplied(
        _ texts: [String: String], over own: [Policy], in folder: PolicyFolder, within reach: PolicyReach
    ) throws(PolicyError) -> [Policy] {
        if texts["_larder"] != nil {
            throw PolicyError([
                Problem(
                    "the settings of the process may not be changed", file: ProcessSettings.file,
                    rule: PolicyReach.rule)
            ])
        }
        _ = try folder.reader.inMemory(texts)
        let files = Dictionary(uniqueKeysWithValues: texts.map { ($0 + ".json", Array($1.utf8)) })
        let policies = try folder.whole(replacing: files)
        let known = Dictionary(uniqueKeysWithValues: own.map { ($0.resource, $0) })
        let problems = policies.flatMap { reach.problems(of: $0, inPlaceOf: known[$0.resource]) }
        if !problems.isEmpty { throw PolicyError(problems) }
        return policies
    }
}

extension PolicyReader {
    /// Returns the policies of the folder as they are when these texts stand in place of some of its files.
    ///
    /// - Parameter reach: the keys in which they may differ: see ``PolicySupply/reach``.
    /// - Throws: ``PolicyError`` as for an app: with all problems, also with those of what they may not change.
    @discardableResult
    package func supplied(_ texts: [String: String], within reach: Set<String>) throws(PolicyError) -> [Policy] {
        var folder = PolicyFolder(self)
        _ = try folder.changes()
        return try Pantry.supplied(texts, over: try folder.whole(), in: folder, within: PolicyReach(keys: reach))
    }
}
