import Foundation
import Larder

// A validator that notes facts about payloads, as another package would write it.

extension NoteKey where Value == String {
    static var edition: NoteKey { NoteKey("com.example.edition") }
}

/// A validator that notes the edition of a newspaper, which its server names in a field of the answer, and shows no
/// reader a copy of another edition. An edition for subscribers is shown but not kept.
struct NewspaperEdition: Validator {
    func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
        switch arrival {
        case .origin, .fallback, .unchanged:
            guard let edition = entry.metadata.fields["X-Edition"] else { throw Refusal("its edition is not known") }
            entry.metadata[.edition] = edition
        case .store:
            if entry.metadata[.edition] == nil { throw Refusal("its edition is not known") }
        }
        return entry.metadata.fields["X-Subscribers-Only"] == nil ? .keep : .useOnly
    }

    func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
        if let wanted = request.parameters["edition"], metadata[.edition] != wanted {
            return Permissions(.all).refusing(.showing, "another edition")
        }
        return Permissions(.all)
    }
}

/// A validator that notes the language that was asked for, and shows no copy to readers of another one.
struct NewspaperLanguage: Validator {
    static let language = NoteKey<String>("com.example.language")

    func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) -> Admission {
        if arrival.isNew { entry.metadata[Self.language] = request.fields["Accept-Language"] ?? "en" }
        return .keep
    }

    func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
        if metadata[Self.language] == request.fields["Accept-Language"] ?? "en" { return Permissions(.all) }
        return Permissions(.all).refusing(.all, "another language")
    }
}

extension Plugin {
    static let newspaperLanguage = Plugin.validator("newspaper-language", "Shows no copy in another language.") { _ in
        NewspaperLanguage()
    }

    static let newspaperEdition = Plugin.validator("newspaper-edition", "Shows no copy of another edition.") { _ in
        NewspaperEdition()
    }
}
