#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Turns payload bytes into a value.
///
/// Two codecs that are equal give the same values: a decoded value is kept with its entry and shared by every handle
/// whose codec is equal. Decoding runs off the caller's actor, possibly on several threads at once.
public protocol Codec<Value>: Hashable, Sendable {
    /// What the bytes become.
    associatedtype Value: Sendable

    /// The value these bytes stand for.
    ///
    /// - Throws: anything; the load then treats the payload as a failure of the origin.
    func decode(_ bytes: Data) throws -> Value

    /// What a value weighs in a store with a capacity in bytes, beside the bytes it was decoded from; nothing by default.
    /// Say it where values are much larger than their bytes, as pictures are. It counts from when the entry is written,
    /// for what was decoded by then: a value that a handle with another codec adds later is not weighed.
    func cost(of value: Value) -> Int
}

extension Codec {
    /// Nothing.
    public func cost(of value: Value) -> Int { 0 }
}

/// Bytes as they are.
public struct RawCodec: Codec {
    /// The codec of raw handles.
    public init() {}

    /// The same bytes.
    public func decode(_ bytes: Data) -> Data { bytes }
}

/// JSON into any `Decodable`, with `JSONDecoder`'s default settings or those of a ``JSONFormat``.
public struct JSONCodec<Value: Decodable & Sendable>: Codec {
    private let format: (any JSONFormat.Type)?

    /// JSON into `Value`, with the decoder's default settings.
    public init() { format = nil }

    /// JSON into `Value`, with the settings of `format`. Two codecs of one format are equal.
    public init(format: any JSONFormat.Type) { self.format = format }

    /// - Throws: `DecodingError`, also for JSON that is not UTF-8 and for JSON nested deeper than 128 levels: Foundation's
    ///   decoder traps on deeper nesting, and types that nest themselves exhaust a thread's stack before that.
    public func decode(_ bytes: Data) throws -> Value {
        let decoder = JSONDecoder()
        format?.configure(decoder)
        // In UTF-16 and UTF-32 there are zeros, and brackets could hide from the count.
        guard !bytes.contains(0), JSONDepth(of: bytes, isJSON5: decoder.allowsJSON5).deepest <= 128 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "not UTF-8, or nested deeper than 128 levels"))
        }
        return try decoder.decode(Value.self, from: bytes)
    }

    /// Whether both decode with the same settings.
    public static func == (left: JSONCodec, right: JSONCodec) -> Bool {
        left.format.map { ObjectIdentifier($0) } == right.format.map { ObjectIdentifier($0) }
    }

    /// Feeds the identity of the format.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(format.map { ObjectIdentifier($0) })
    }
}

/// A codec with its value's type erased, under a number by which equal codecs are known.
public struct AnyCodec: Sendable {
    /// Equal codecs have equal numbers, within one pantry. Zero is raw bytes.
    public let id: Int
    let decode: @Sendable (Data) throws -> Decoded

    /// `codec`, known by `id`.
    public init(_ codec: some Codec, id: Int) {
        self.id = id
        self.decode = { bytes in
            let value = try codec.decode(bytes)
            return DecodedValue(value, codec: id, cost: min(max(0, codec.cost(of: value)), 1 << 48))
        }
    }

    /// Raw bytes: nothing to decode, nothing to remember.
    public static let raw = AnyCodec(RawCodec(), id: 0)
}

/// A codec as a dictionary's key: equal codecs are one.
struct KnownCodec: Hashable, Sendable {
    let codec: any Codec

    static func == (one: KnownCodec, other: KnownCodec) -> Bool { AnyHashable(one.codec) == AnyHashable(other.codec) }

    func hash(into hasher: inout Hasher) { codec.hash(into: &hasher) }
}
