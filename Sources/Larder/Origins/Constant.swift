#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Plugin {
    /// What the policy itself says.
    static let constant = Plugin.origin(
        "constant", "A value written in the policy itself.",
        Setting("value", .json, help: "The value; its JSON text is the payload"),
        traits: { _ in
            Traits().with {
                $0.cannotFail = true
                $0.isLocal = true
            }
        }
    ) { _, value in Constant(payload: Data(value.text(indented: false).utf8)) }
}

/// The same bytes always.
struct Constant: Loader {
    let payload: Data

    func load(_ call: Call) async throws -> Loaded<Entry> {
        Loaded(Entry(payload, Metadata(contentType: "application/json")))
    }
}
