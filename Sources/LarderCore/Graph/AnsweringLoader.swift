/// Answers loads with the loader of a section: see ``AnsweringAttachment``.
struct AnsweringLoader: Loader {
    /// The name of the section.
    let section: String
    /// The loader of its attachment; nil if the section could not be opened and the pantry goes on without it.
    let loader: (any Loader)?

    func load(_ call: Call) async throws -> Loaded<Entry> {
        guard let loader else { throw LoadError(.unavailable, "section '\(section)' could not be opened") }
        let loaded = try await loader.load(call)
        do { try loaded.value.payload.decode(with: call.codec) } catch { throw LoadError.undecodable(error) }
        return loaded
    }
}
