#if canImport(CryptoKit)
    import CryptoKit
    import LarderFoundation

    /// Ed25519 (RFC 8032) of the system.
    enum Ed25519 {
        static func require() throws {}

        static func verifies(_ signature: [UInt8], of message: [UInt8], key: [UInt8]) throws -> Bool {
            try Curve25519.Signing.PublicKey(rawRepresentation: Data(key))
                .isValidSignature(Data(signature), for: Data(message))
        }

        static func publicKey(ofSeed seed: [UInt8]) throws -> [UInt8] {
            Array(try Curve25519.Signing.PrivateKey(rawRepresentation: Data(seed)).publicKey.rawRepresentation)
        }

        static func signature(of message: [UInt8], seed: [UInt8]) throws -> [UInt8] {
            Array(try Curve25519.Signing.PrivateKey(rawRepresentation: Data(seed)).signature(for: Data(message)))
        }
    }
#else
    /// Ed25519 (RFC 8032) of the system.
    enum Ed25519 {
        /// - Throws: `SystemLibrary.Failure`, which names the package to install, if libcrypto is missing.
        static func require() throws { _ = try CryptoLibrary.system.get() }

        static func verifies(_ signature: [UInt8], of message: [UInt8], key: [UInt8]) throws -> Bool {
            try CryptoLibrary.system.get().verifies(signature, of: message, key: key)
        }

        static func publicKey(ofSeed seed: [UInt8]) throws -> [UInt8] {
            try CryptoLibrary.system.get().publicKey(ofSeed: seed)
        }

        static func signature(of message: [UInt8], seed: [UInt8]) throws -> [UInt8] {
            try CryptoLibrary.system.get().signature(of: message, seed: seed)
        }
    }
#endif
