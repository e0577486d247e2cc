#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
import Synchronization

/// The bytes of an entry and what they were decoded into, so that a hit in memory decodes nothing.
///
/// One payload is shared by the entry in every tier and by everyone who loads it. Decoded values are added, never
/// changed or removed, so reading them takes no lock; there is one for each codec in use.
public final class Payload: Sendable {
    /// The bytes as they came.
    public let bytes: Data
    private let first = AtomicLazyReference<Decoded>()

    /// A payload of which nothing is decoded yet.
    public init(_ bytes: Data) {
        self.bytes = bytes
    }

    /// What an earlier ``decode(with:)`` by an equal codec gave; nil when there was none.
    public func decoded(by codec: AnyCodec) -> (any Sendable)? {
        if codec.id == 0 { return bytes }
        var node = first.load()
        while let current = node {
            if current.codec == codec.id { return current.value }
            node = current.next.load()
        }
        return nil
    }

    /// Whether ``decoded(by:)`` has an answer.
    public func isDecoded(by codec: AnyCodec) -> Bool {
        codec.id == 0 || decoded(by: codec) != nil
    }

    /// The decoded value, decoding if nobody did yet.
    ///
    /// - Throws: what the codec throws.
    @discardableResult
    public func decode(with codec: AnyCodec) throws -> any Sendable {
        if let value = decoded(by: codec) { return value }
        var addition = Decoded(codec: codec.id, value: try codec.decode(bytes))
        var slot = first.storeIfNil(addition)
        while slot !== addition {
            if slot.codec == codec.id { return slot.value }
            addition = Decoded(codec: addition.codec, value: addition.value)
            slot = slot.next.storeIfNil(addition)
        }
        return addition.value
    }

    private final class Decoded: Sendable {
        let codec: Int
        let value: any Sendable
        let next = AtomicLazyReference<Decoded>()

        init(codec: Int, value: any Sendable) {
            self.codec = codec
            self.value = value
        }
    }
}
