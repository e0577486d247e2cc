public import LarderFoundation
import LarderSystem
import Synchronization

/// The bytes of an entry and the values decoded from them, so that a hit in memory decodes nothing.
///
/// The entries in all tiers and all callers share one payload. There is at most one decoded value for each codec.
/// Decoded values are added but never changed or removed, so reading them takes no lock.
public final class Payload: Sendable {
    /// The bytes.
    public let bytes: Data
    /// The number of bytes. It is stored because every hit reads it, and `Data.count` is slower.
    let size: Int
    /// The file that the bytes are in; nil if they are in memory.
    let file: SharedFile?
    private let first = AtomicLazyReference<Decoded>()

    /// Creates a payload without decoded values.
    public init(_ bytes: Data) {
        self.bytes = bytes
        size = bytes.count
        file = nil
    }

    /// Creates a payload whose bytes are in a file.
    init(_ file: SharedFile) {
        bytes = Data(mapped: file.map)
        size = bytes.count
        self.file = file
    }

    /// Decodes the bytes unless that has been done.
    ///
    /// - Throws: the error of the codec.
    func decode(with codec: AnyCodec) throws {
        if codec.id != 0 { _ = try node(decoding: codec) }
    }

    /// Returns the decoded value. Decodes the bytes if that has not been done.
    ///
    /// - Throws: the error of the codec, or ``LoadError`` if the codec's values have another type.
    @inlinable
    package func value<Value: Sendable>(by codec: AnyCodec, as type: Value.Type = Value.self) throws -> Value {
        // The casts are safe because the types were compared. A dynamic cast would take longer than the rest of a hit.
        if codec.id == 0 {
            if Value.self == Data.self { return unsafeBitCast(bytes, to: Value.self) }
        } else {
            let node = try node(decoding: codec)
            if node.type == Value.self { return unsafeDowncast(node, to: DecodedValue<Value>.self).value }
        }
        throw LoadError(.undecodable, "the codec gives values of another type")
    }

    /// Returns the value if it has been decoded. Returns nil also if the codec's values have another type.
    @inlinable @inline(__always)
    func keptValue<Value: Sendable>(by codec: AnyCodec, as type: Value.Type = Value.self) -> Value? {
        if codec.id == 0 { return Value.self == Data.self ? unsafeBitCast(bytes, to: Value.self) : nil }
        guard let node = decoded(by: codec.id), node.type == Value.self else { return nil }
        return unsafeDowncast(node, to: DecodedValue<Value>.self).value
    }

    /// The size of the bytes and the cost of the decoded values.
    var weight: Int {
        var weight = size
        var node = first.load()
        while let current = node {
            weight += current.cost
            node = current.next.load()
        }
        return weight
    }

    @usableFromInline
    func decoded(by codec: Int) -> Decoded? {
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
            // Another thread was faster.
            if last.codec == codec.id { return last }
            last = last.next.storeIfNil(addition)
        }
        return addition
    }
}

/// A value that a payload was decoded into, one of several in a chain.
///
/// `@unchecked Sendable`: only `next` changes, and it is atomic.
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

/// A decoded value with its type.
///
/// `@unchecked Sendable`: the value never changes, and the superclass is safe to share.
@usableFromInline final class DecodedValue<Value: Sendable>: Decoded, @unchecked Sendable {
    @usableFromInline let value: Value

    init(_ value: Value, codec: Int, cost: Int) {
        self.value = value
        super.init(codec: codec, cost: cost, type: Value.self)
    }
}
