#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Plugin {
    /// An app's own way to fetch bytes, under a name that policies use.
    ///
    /// Whatever `fetch` throws is a failure of the origin, except ``LoadError/answer(status:_:)``, which stands whatever
    /// is cached.
    public static func origin(
        _ name: String, _ about: String = "The app's own.", fetch: @escaping @Sendable (Call) async throws -> Data
    ) -> Plugin {
        origin(name, about) { call in Loaded(Entry(try await fetch(call))) }
    }

    /// An app's own way to fetch an entry: bytes with an etag, content type or tags, or ``Loaded/unchanged(_:)``.
    public static func origin(
        _ name: String, _ about: String = "The app's own.",
        fetch: @escaping @Sendable (Call) async throws -> Loaded<Entry>
    ) -> Plugin {
        .origin(name, about) { (_: Context) in ClosureOrigin(fetch: fetch) }
    }
}

/// An app's closure as a loader.
private struct ClosureOrigin: Loader {
    let fetch: @Sendable (Call) async throws -> Loaded<Entry>

    func load(_ call: Call) async throws -> Loaded<Entry> {
        do {
            return try await fetch(call)
        } catch let error as CancellationError where !Task.isCancelled {
            throw LoadError(.failed, "cancelled itself", origin: error)
        }
    }
}
