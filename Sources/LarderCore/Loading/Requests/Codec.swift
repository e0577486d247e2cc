public import LarderFoundation

/// Turns payload bytes into a value.
///
/// Two equal codecs must return the same values. A decoded value is kept with its entry, and all handles with equal
/// codecs share it. Decoding runs off the caller's actor, possibly on several threads at once.
public protocol Codec<Value>: Hashable, Sendable {
    /// The type of the decoded values.
    associatedtype Value: Sendable

    /// Returns the value of these bytes.
    ///
    /// - Throws: any error. The load then treats the payload as a failure of the origin.
    func decode(_ bytes: Data) throws -> Value

    /// Returns the size of a value in memory, in bytes, without its encoded bytes; 0 by default.
    ///
    /// Implement this if values are much larger than their encoded bytes, as pictures are. A store with a capacity in
    /// bytes adds the cost of a value that was decoded before the entry is written. It does not add the cost of values
    /// that are decoded later with other codecs.
    func cost(of value: Value) -> Int
}

extension Codec {
    /// Returns 0.
    public func cost(of value: Value) -> Int { 0 }
}

/// A codec that returns the bytes of the payload unchanged.
package struct RawCodec: Codec {
    /// Creates the codec of raw handles.
    package init() {}

    /// Returns the same bytes.
    package func decode(_ bytes: Data) -> Data { bytes }
}

/// A codec that decodes JSON into any `Decodable`, with the default settings of `JSONDecoder` or those of a
/// ``JSONFormat``.
public struct JSONCodec<Value: Decodable & Sendable>: Codec {
    private let format: (any JSONFormat.Type)?

    /// Creates a codec with the settings of `format`, or with the default settings of `JSONDecoder`. Two codecs with the
    /// same format are equal.
    public init(format: (any JSONFormat.Type)? = nil) { self.format = format }

    /// Returns the value of these bytes.
    ///
    /// - Throws: `DecodingError`, also for JSON that is not UTF-8 or is nested deeper than 128 levels. Foundation's
    ///   decoder traps on very deep nesting, and recursive types exhaust a thread's stack even earlier.
    public func decode(_ bytes: Data) throws -> Value {
        let decoder = JSONDecoder()
        format?.configure(decoder)
        // UTF-16 and UTF-32 contain zeros. In these encodings the depth would be counted wrong.
        guard !bytes.contains(0), JSONDepth(of: bytes, isJSON5: decoder.allowsJSON5).deepest <= 128 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "not UTF-8, or nested deeper than 128 levels"))
        }
        return try decoder.decode(Value.self, from: bytes)
    }

    /// Returns whether both decode with the same settings.
    public static func == (left: JSONCodec, right: JSONCodec) -> Bool {
        left.format.map { ObjectIdentifier($0) } == right.format.map { ObjectIdentifier($0) }
    }

    /// Hashes the identity of the format.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(format.map { ObjectIdentifier($0) })
    }
}

/// A codec without its type of values, and with a number that is the same for equal codecs.
public struct AnyCodec: Sendable {
    /// The number of the codec. Equal codecs of one pantry have equal numbers. Zero stands for raw bytes.
    @usableFromInline package let id: Int
    let decode: @Sendable (Data) throws -> Decoded

    /// Creates a codec with this number.
    package init(_ codec: some Codec, id: Int) {
        self.id = id
        self.decode = { bytes in
            let value = try codec.decode(bytes)
            return DecodedValue(value, codec: id, cost: min(max(0, codec.cost(of: value)), 1 << 48))
        }
    }

    /// The codec for raw bytes, which are not decoded.
    package static let raw = AnyCodec(RawCodec(), id: 0)
}

/// A codec as the key of a dictionary. Equal codecs are equal keys.
struct CodecKey: Hashable, Sendable {
    let codec: any Codec

    static func == (one: CodecKey, other: CodecKey) -> Bool { AnyHashable(one.codec) == AnyHashable(other.codec) }

    func hash(into hasher: inout Hasher) { codec.hash(into: &hasher) }
}
