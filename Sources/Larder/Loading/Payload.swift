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
    /// How many there are: asked on every hit, and not told at once by every form of `Data`.
    let size: Int
    private let first = AtomicLazyReference<Decoded>()

    /// A payload of which nothing is decoded yet.
    public init(_ bytes: Data) {
        self.bytes = bytes
        size = bytes.count
    }

    /// Whether ``decode(with:)`` has nothing to do.
    public func isDecoded(by codec: AnyCodec) -> Bool {
        codec.id == 0 || decoded(by: codec.id) != nil
    }

    /// Decodes the bytes, if nobody did yet.
    ///
    /// - Throws: what the codec throws.
    public func decode(with codec: AnyCodec) throws {
        if codec.id != 0 { _ = try node(decoding: codec) }
    }

    /// The decoded value, decoding if nobody did yet.
    ///
    /// - Throws: what the codec throws; ``LoadError`` if it gives values of another type.
    @inlinable
    public func value<Value: Sendable>(by codec: AnyCodec, as type: Value.Type = Value.self) throws -> Value {
        // The casts are sound: the types were compared. A dynamic cast would cost a hit more than all the rest.
        if codec.id == 0 {
            if Value.self == Data.self { return unsafeBitCast(bytes, to: Value.self) }
        } else {
            let node = try node(decoding: codec)
            if node.type == Value.self { return unsafeDowncast(node, to: DecodedValue<Value>.self).value }
        }
        throw LoadError(.undecodable, "the codec gives values of another type")
    }

    /// What it weighs: the bytes, and what codecs say of the values these were decoded into.
    var weight: Int {
        var weight = size
        var node = first.load()
        while let current = node {
            weight += current.cost
            node = current.next.load()
        }
        return weight
    }

    private func decoded(by codec: Int) -> Decoded? {
        var node = first.load()
        while let current = node, current.codec != codec { node = current.next.load() }
        return node
    }

    @usableFromInline
    func node(decoding codec: AnyCodec) throws -> Decoded {
        if let node = decoded(by: codec.id) { return node }
        let addition = try codec.decode(bytes)
        var last = first.storeIfNil(addition)
        while last !== addition {
            // Somebody was faster.
            if last.codec == codec.id { return last }
            last = last.next.storeIfNil(addition)
        }
        return addition
    }
}

/// A value that a payload was decoded into, one of several in a chain.
///
/// `@unchecked Sendable`: nothing in it changes but `next`, which is atomic.
@usableFromInline class Decoded: @unchecked Sendable {
    let codec: Int
    let cost: Int
    @usableFromInline let type: Any.Type
    let next = AtomicLazyReference<Decoded>()

    init(codec: Int, cost: Int, type: Any.Type) {
        self.codec = codec
        self.cost = cost
        self.type = type
    }
}

/// The value itself.
///
/// `@unchecked Sendable`: as its superclass, and the value never changes.
@usableFromInline final class DecodedValue<Value: Sendable>: Decoded, @unchecked Sendable {
    @usableFromInline let value: Value

    init(_ value: Value, codec: Int, cost: Int) {
        self.value = value
        super.init(codec: codec, cost: cost, type: Value.self)
    }
}
