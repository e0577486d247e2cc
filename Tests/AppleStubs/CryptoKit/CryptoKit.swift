// swift-format-ignore-file
public import AppleFoundation
public import FoundationEssentials

// From developer.apple.com/documentation/cryptokit/curve25519/signing

@available(macOS 10.15, iOS 13.0, watchOS 6.0, tvOS 13.0, *)
public enum Curve25519: Sendable {
    public enum Signing: Sendable {
        public struct PublicKey: Sendable {
            public init<D: ContiguousBytes>(rawRepresentation: D) throws { fatalError() }
            public var rawRepresentation: Data { fatalError() }
            public func isValidSignature<S: DataProtocol, D: DataProtocol>(_ signature: S, for data: D) -> Bool { fatalError() }
        }
        public struct PrivateKey: Sendable {
            public init() { fatalError() }
            public init<D: ContiguousBytes>(rawRepresentation: D) throws { fatalError() }
            public var rawRepresentation: Data { fatalError() }
            public var publicKey: PublicKey { fatalError() }
            public func signature<D: DataProtocol>(for data: D) throws -> Data { fatalError() }
        }
    }
}

// From developer.apple.com/documentation/cryptokit/sha256

@available(macOS 10.15, iOS 13.0, watchOS 6.0, tvOS 13.0, *)
public struct SHA256: Sendable {
    public init() {}
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { fatalError() }
    public mutating func update<D: DataProtocol>(data: D) {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { fatalError() }
}

@available(macOS 10.15, iOS 13.0, watchOS 6.0, tvOS 13.0, *)
public struct SHA256Digest: Sequence, Hashable, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
}
