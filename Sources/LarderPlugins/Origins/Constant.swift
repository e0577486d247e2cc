import LarderFoundation
import LarderCore

extension Plugin {
    /// An origin with a value in the policy itself.
    static let constant = Plugin.origin(
        "constant", "Returns a value that is written in the policy itself.",
        Setting("value", .json, help: "The value; its JSON text is the payload"),
        traits: { _ in
            .with {
                $0.cannotFail = true
                $0.isLocal = true
            }
        }
    ) { _, value in Constant(payload: Data(value.text(indented: false).utf8)) }
}

/// A loader that always answers with the same bytes.
struct Constant: Loader {
    let payload: Data

    func load(_ call: Call) async throws -> Loaded<Entry> {
        Loaded(Entry(payload, Metadata(contentType: "application/json")))
    }
}
