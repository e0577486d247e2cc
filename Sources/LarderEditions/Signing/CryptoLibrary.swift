#if !canImport(CryptoKit)
    import LarderSystem

    /// The functions of libcrypto that sign and check signatures.
    ///
    /// `@unchecked Sendable`: nothing is ever changed, and libcrypto's functions may be called from any thread, each object
    /// by one thread at a time.
    final class CryptoLibrary: @unchecked Sendable {
        typealias Handle = UnsafeMutableRawPointer

        /// The library of this process, or the reason why there is none. It stays loaded until the process ends.
        static let system = Result { () throws(SystemLibrary.Failure) in try CryptoLibrary() }

        /// libcrypto's number for Ed25519.
        private static let ed25519: Int32 = 1087

        private typealias MakeKey = @convention(c) (Int32, Handle?, UnsafePointer<UInt8>, Int) -> Handle?
        private typealias Begin = @convention(c) (Handle, Handle?, Handle?, Handle?, Handle) -> Int32

        private let makePublicKey: MakeKey
        private let makePrivateKey: MakeKey
        private let readPublicKey:
            @convention(c) (Handle, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>) -> Int32
        private let endKey: @convention(c) (Handle) -> Void
        private let makeContext: @convention(c) () -> Handle?
        private let endContext: @convention(c) (Handle) -> Void
        private let beginVerifying: Begin
        private let verify: @convention(c) (Handle, UnsafePointer<UInt8>, Int, UnsafePointer<UInt8>, Int) -> Int32
        private let beginSigning: Begin
        private let sign:
            @convention(c) (
                Handle, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>, UnsafePointer<UInt8>, Int
            ) -> Int32
        private let clearErrors: @convention(c) () -> Void
        private let library: SystemLibrary

        /// Looks up libcrypto.
        ///
        /// - Throws: ``SystemLibrary/Failure`` if libcrypto is missing or older than 1.1.1.
        init(files: [String] = ["libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"]) throws(SystemLibrary.Failure) {
            let library = try SystemLibrary("libcrypto", files: files, package: "libssl3", staysLoaded: true)
            makePublicKey = try library.function("EVP_PKEY_new_raw_public_key")
            makePrivateKey = try library.function("EVP_PKEY_new_raw_private_key")
            readPublicKey = try library.function("EVP_PKEY_get_raw_public_key")
            endKey = try library.function("EVP_PKEY_free")
            makeContext = try library.function("EVP_MD_CTX_new")
            endContext = try library.function("EVP_MD_CTX_free")
            beginVerifying = try library.function("EVP_DigestVerifyInit")
            verify = try library.function("EVP_DigestVerify")
            beginSigning = try library.function("EVP_DigestSignInit")
            sign = try library.function("EVP_DigestSign")
            clearErrors = try library.function("ERR_clear_error")
            self.library = library
        }

        func verifies(_ signature: [UInt8], of message: [UInt8], key: [UInt8]) throws(SystemLibrary.Failure) -> Bool {
            try with(makePublicKey, of: key) { key, context in
                beginVerifying(context, nil, nil, nil, key) == 1
                    ? verify(context, signature, signature.count, message, message.count) == 1 : nil
            }
        }

        func publicKey(ofSeed seed: [UInt8]) throws(SystemLibrary.Failure) -> [UInt8] {
            try with(makePrivateKey, of: seed) { key, _ in
                var (bytes, count) = ([UInt8](repeating: 0, count: 32), 32)
                return readPublicKey(key, &bytes, &count) == 1 && count == 32 ? bytes : nil
            }
        }

        func signature(of message: [UInt8], seed: [UInt8]) throws(SystemLibrary.Failure) -> [UInt8] {
            try with(makePrivateKey, of: seed) { key, context in
                var (bytes, count) = ([UInt8](repeating: 0, count: 64), 64)
                return beginSigning(context, nil, nil, nil, key) == 1
                    && sign(context, &bytes, &count, message, message.count) == 1 && count == 64 ? bytes : nil
            }
        }

        /// Calls `body` with a key and a context, which end with it. A result of nil is a failure.
        private func with<Value>(
            _ make: MakeKey, of bytes: [UInt8], body: (_ key: Handle, _ context: Handle) -> Value?
        ) throws(SystemLibrary.Failure) -> Value {
            // Errors stay with the thread. libcurl's next call of libcrypto on this thread would take them for its own.
            defer { clearErrors() }
            guard let key = make(Self.ed25519, nil, bytes, bytes.count) else {
                throw SystemLibrary.Failure("libcrypto does not offer Ed25519 here")
            }
            defer { endKey(key) }
            guard let context = makeContext() else { throw SystemLibrary.Failure("libcrypto cannot be used") }
            defer { endContext(context) }
            guard let value = body(key, context) else {
                throw SystemLibrary.Failure("libcrypto does not offer Ed25519 here")
            }
            return value
        }
    }
#endif
