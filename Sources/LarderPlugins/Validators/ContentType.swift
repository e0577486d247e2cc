import LarderCore

extension Plugin {
    /// A validator of media types.
    static let contentType = Plugin.validator(
        "content-type", "Admits only payloads of certain media types.",
        Setting(
            "allowed", .list(of: .mediaType, atLeast: 1),
            help: "The allowed types, such as \"application/json\", \"image/*\" or \"*/*\""
        ).alsoCalled("types", "contentTypes", "mediaTypes"),
        Setting(
            "unnamed", .flag, default: false, help: "Whether payloads without a media type are admitted"),
        traits: { _, _ in .with { $0.borders = [] } }
    ) { _, allowed, unnamed in ContentType(allowed: allowed.map { $0.lowercased() }, unnamed: unnamed) }
}

/// A validator that admits only payloads of certain media types.
struct ContentType: Validator {
    let allowed: [String]
    let unnamed: Bool

    var permitRule: PermitRule? { .everything }

    func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
        guard let named = entry.metadata.contentType else {
            if unnamed { return .keep }
            throw Refusal("its origin names no content type")
        }
        // The type of `text/html; charset=utf-8` is `text/html`.
        let type = named.prefix { $0 != ";" && $0 != " " }.lowercased()
        let isAllowed = allowed.contains { pattern in
            if pattern == "*/*" { return true }
            return pattern.hasSuffix("/*") ? type.hasPrefix(pattern.dropLast()) : type == pattern
        }
        if !isAllowed { throw Refusal("its content type is not among those allowed") }
        return .keep
    }
}
