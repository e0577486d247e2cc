import LarderFoundation
public import LarderCore

/// A value that an app's closure fetched, with the metadata that its service sent.
///
/// ```swift
/// .origin("prices", returning: Price.self) { call in
///     guard let (price, etag) = try await api.price(unlessTagged: call.known?.metadata.etag) else {
///         return try .unchanged(call)
///     }
///     return Fetched(price, etag: etag)
/// }
/// ```
public struct Fetched<Value> {
    private enum Content {
        case value(Value, Metadata)
        case unchanged(Loaded<Entry>)
    }

    private let content: Content

    /// Creates a value with its metadata. With an etag or a date, the next call can ask the service whether the value
    /// has changed. Values with the same tag can be cleared together.
    public init(_ value: Value, etag: String? = nil, lastModified: String? = nil, tags: [String] = []) {
        let metadata = Metadata(
            etag: etag, lastModified: lastModified, contentType: "application/json", tags: tags)
        content = .value(value, metadata)
    }

    private init(_ content: Content) {
        self.content = content
    }

    /// Returns the service's answer that the copy named by the call is still current.
    ///
    /// - Parameters:
    ///   - call: the call that the service answers.
    ///   - update: changes the facts that the answer names: see ``Loaded/unchanged(_:updating:)``.
    /// - Throws: ``LoadError`` if the call named no copy; the error of `update`.
    public static func unchanged(
        _ call: Call, updating update: (inout Metadata) throws -> Void = { _ in }
    ) throws -> Fetched {
        Fetched(.unchanged(try Loaded.unchanged(call, updating: update)))
    }
}

extension Fetched where Value: Encodable {
    /// Returns the value as JSON. Keys are sorted, so that equal values have equal bytes.
    func loaded(in format: (any JSONFormat.Type)?) throws -> Loaded<Entry> {
        switch content {
        case .unchanged(let known): return known
        case .value(let value, let metadata):
            let encoder = JSONEncoder()
            format?.configure(encoder)
            encoder.outputFormatting.insert(.sortedKeys)
            return Loaded(Entry(try encoder.encode(value), metadata))
        }
    }
}
