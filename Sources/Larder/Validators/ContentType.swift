extension Plugin {
    /// Kinds of payloads.
    static let contentType = Plugin.validator(
        "content-type", "Admits payloads of certain media types only.",
        Setting(
            "allowed", .list(of: .text, atLeast: 1),
            help: "The types, such as \"application/json\", \"image/*\" or \"*/*\""),
        Setting(
            "unnamed", .flag, default: false, help: "Whether payloads whose type the origin does not name are admitted")
    ) { _, allowed, unnamed in ContentType(allowed: allowed.map { $0.lowercased() }, unnamed: unnamed) }
}

/// Admits payloads of certain media types only.
struct ContentType: Validator {
    let allowed: [String]
    let unnamed: Bool

    func admit(_ entry: inout Entry, from arrival: Arrival) throws(Refusal) {
        guard let named = entry.metadata.contentType else {
            if unnamed { return }
            throw Refusal("its origin names no content type")
        }
        // `text/html; charset=utf-8` is of the type `text/html`.
        let type = named.prefix { $0 != ";" && $0 != " " }.lowercased()
        let isAllowed = allowed.contains { pattern in
            if pattern == "*/*" { return true }
            return pattern.hasSuffix("/*") ? type.hasPrefix(pattern.dropLast()) : type == pattern
        }
        if !isAllowed { throw Refusal("its content type is not among those allowed") }
    }
}
