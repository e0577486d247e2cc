#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A value that an app's closure fetched, with what its service said of it.
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

    /// A value. With an etag or a date the service can be asked next time whether it has changed; under its tags it can be
    /// cleared together with others.
    public init(_ value: Value, etag: String? = nil, lastModified: String? = nil, tags: [String] = []) {
        let metadata = Metadata(
            etag: etag, lastModified: lastModified, contentType: "application/json", tags: tags)
        content = .value(value, metadata)
    }

    private init(_ content: Content) {
        self.content = content
    }

    /// The service's answer that the copy named by the call is still current.
    ///
    /// - Throws: ``LoadError`` when the call named none.
    public static func unchanged(_ call: Call) throws -> Fetched {
        Fetched(.unchanged(try Loaded.unchanged(call)))
    }
}

extension Fetched where Value: Encodable {
    /// The value as JSON. Keys are in order, so that equal values have equal bytes.
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
