extension Plugin {
    /// The version of the app's own format.
    static let entryVersion = Plugin.validator(
        "entry-version", "Stamps entries with a number and lets none be shown that bears another.",
        Setting("version", .int(0...Int(Int32.max)), help: "The number; count it up when old entries must go")
    ) { _, version in EntryVersion(version: version) }
}

/// Keeps entries apart that were saved under different versions of a policy.
struct EntryVersion: Validator {
    let version: Int

    func admit(_ entry: inout Entry, from arrival: Arrival) throws(Refusal) {
        if arrival != .store { entry.metadata.version = version }
    }

    func permit(_ metadata: Metadata, at now: Timestamp) -> Permissions {
        if metadata.version == version { return Permissions(.all) }
        return Permissions(.all).refusing(.all, "entry-version \(version)")
    }
}
