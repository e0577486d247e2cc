public import LarderFoundation
public import LarderCore

extension Plugin {
    /// Creates an origin that fetches bytes with an app's closure.
    ///
    /// An error that `fetch` throws is a failure of the origin, except ``LoadError/answer(status:_:)``: an answer is
    /// thrown to the caller even if there is a copy.
    ///
    /// Set `acceptsSends` if the closure carries out changes: it then tells them apart by ``Call/method``.
    public static func origin(
        _ name: String, _ about: String = "The app's own.", acceptsSends: Bool = false,
        fetch: @escaping @Sendable (Call) async throws -> Data
    ) -> Plugin {
        origin(name, about, acceptsSends: acceptsSends) { call in Loaded(Entry(try await fetch(call))) }
    }

    /// Creates an origin that fetches an entry with an app's closure: bytes with an etag, content type or tags, or
    /// ``Loaded/unchanged(_:updating:)``.
    ///
    /// Set `acceptsSends` if the closure carries out changes: it then tells them apart by ``Call/method``.
    public static func origin(
        _ name: String, _ about: String = "The app's own.", acceptsSends: Bool = false,
        fetch: @escaping @Sendable (Call) async throws -> Loaded<Entry>
    ) -> Plugin {
        .origin(name, about, traits: { .with { $0.acceptsSends = acceptsSends } }) { (_: Context) in
            ClosureOrigin(fetch: fetch)
        }
    }

    /// Creates an origin that fetches a value with an app's closure. The value's JSON is the payload.
    ///
    /// ```swift
    /// try registry.register(.origin("prices", returning: Price.self) { call in try await api.price() })
    /// ```
    ///
    /// `format` configures the encoder. Pass the format of the codec that reads the value if it has one.
    public static func origin<Value: Encodable & SendableMetatype>(
        _ name: String, _ about: String = "The app's own.", returning type: Value.Type,
        format: (any JSONFormat.Type)? = nil, fetch: @escaping @Sendable (Call) async throws -> Value
    ) -> Plugin {
        origin(name, about) { call in try Fetched(try await fetch(call)).loaded(in: format) }
    }

    /// Creates an origin that fetches a value with an etag, a date or tags, or ``Fetched/unchanged(_:updating:)``, with an app's
    /// closure. The value's JSON is the payload.
    ///
    /// `format` configures the encoder. Pass the format of the codec that reads the value if it has one.
    public static func origin<Value: Encodable & SendableMetatype>(
        _ name: String, _ about: String = "The app's own.", returning type: Value.Type,
        format: (any JSONFormat.Type)? = nil, fetch: @escaping @Sendable (Call) async throws -> Fetched<Value>
    ) -> Plugin {
        origin(name, about) { call in try await fetch(call).loaded(in: format) }
    }

    /// Not available. It makes the compiler print a helpful message for a closure that returns another type.
    @available(
        *, unavailable,
        message:
            "the closure must return Data or Loaded<Entry>; for a Codable type name it: .origin(\"prices\", returning: Price.self) { call in … }"
    )
    public static func origin<Value>(
        _ name: String, _ about: String = "", fetch: @escaping @Sendable (Call) async throws -> Value
    ) -> Plugin {
        origin(name, about) { (_: Context) in
            ClosureOrigin { _ in throw LoadError(.failed, "the closure returns a type that cannot be kept") }
        }
    }

    /// Not available. It makes the compiler print a helpful message for a closure that returns another type.
    @available(
        *, unavailable,
        message: "the closure must return the Encodable type that 'returning' names, or Fetched of that type"
    )
    public static func origin<Value, Other>(
        _ name: String, _ about: String = "", returning type: Value.Type, format: (any JSONFormat.Type)? = nil,
        fetch: @escaping @Sendable (Call) async throws -> Other
    ) -> Plugin {
        origin(name, about) { (_: Context) in
            ClosureOrigin { _ in throw LoadError(.failed, "the closure returns a type that cannot be kept") }
        }
    }
}

/// A loader that calls an app's closure.
private struct ClosureOrigin: Loader {
    let fetch: @Sendable (Call) async throws -> Loaded<Entry>

    func load(_ call: Call) async throws -> Loaded<Entry> {
        do {
            return try await fetch(call)
        } catch let error as CancellationError where !Task.isCancelled {
            throw LoadError(
                .failed, "it threw CancellationError without being cancelled", origin: error)
        }
    }
}
