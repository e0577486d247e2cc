import LarderSystem
import LarderCore

extension Plugin {
    /// A validator of the version of the app's own format.
    static let entryVersion = Plugin.validator(
        "entry-version", "Stamps entries with a version number and refuses copies with another number.",
        Setting("version", .int(0...Int(Int32.max)), help: "The version number; raise it when the format changes"),
        traits: { _ in .with { $0.borders = [] } }
    ) { _, version in EntryVersion(version: version) }
}

extension NoteKey where Value == Int {
    /// The version with which an entry was saved.
    static var entryVersion: NoteKey { NoteKey("entry-version") }
}

/// A validator that permits only entries saved under the same version.
struct EntryVersion: Validator {
    let version: Int

    func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
        if arrival.isNew { entry.metadata[.entryVersion] = version }
        return .keep
    }

    func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
        if metadata[.entryVersion] == version { return Permissions(.all) }
        return Permissions(.all).refusing(.all, "entry-version \(version)")
    }
}
