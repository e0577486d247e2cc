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

    /// An app's own way to fetch a value. Its JSON is the payload.
    ///
    /// ```swift
    /// try registry.register(.origin("prices", returning: Price.self) { call in try await api.price() })
    /// ```
    ///
    /// `format` has the settings to encode the value with: those of the codec that reads it, where it has some.
    public static func origin<Value: Encodable & SendableMetatype>(
        _ name: String, _ about: String = "The app's own.", returning type: Value.Type,
        format: (any JSONFormat.Type)? = nil, fetch: @escaping @Sendable (Call) async throws -> Value
    ) -> Plugin {
        origin(name, about) { call in try Fetched(try await fetch(call)).loaded(in: format) }
    }

    /// An app's own way to fetch a value with an etag, a date or tags, or ``Fetched/unchanged(_:)``. Its JSON is the
    /// payload.
    ///
    /// `format` has the settings to encode the value with: those of the codec that reads it, where it has some.
    public static func origin<Value: Encodable & SendableMetatype>(
        _ name: String, _ about: String = "The app's own.", returning type: Value.Type,
        format: (any JSONFormat.Type)? = nil, fetch: @escaping @Sendable (Call) async throws -> Fetched<Value>
    ) -> Plugin {
        origin(name, about) { call in try await fetch(call).loaded(in: format) }
    }

    /// Not there: it gives the compiler a sentence to say about closures that return something else.
    @available(
        *, unavailable,
        message:
            "the closure must return Data or Loaded<Entry>; for a Codable type name it: .origin(\"prices\", returning: Price.self) { call in … }"
    )
    public static func origin<Value>(
        _ name: String, _ about: String = "", fetch: @escaping @Sendable (Call) async throws -> Value
    ) -> Plugin {
        origin(name, about) { (_: Context) in
            ClosureOrigin { _ in throw LoadError(.failed, "the closure returns nothing that can be kept") }
        }
    }

    /// Not there: it gives the compiler a sentence to say about closures that return something else.
    @available(
        *, unavailable,
        message: "the closure must return the Encodable type that 'returning' names, or Fetched of that type"
    )
    public static func origin<Value, Other>(
        _ name: String, _ about: String = "", returning type: Value.Type, format: (any JSONFormat.Type)? = nil,
        fetch: @escaping @Sendable (Call) async throws -> Other
    ) -> Plugin {
        origin(name, about) { (_: Context) in
            ClosureOrigin { _ in throw LoadError(.failed, "the closure returns nothing that can be kept") }
        }
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
