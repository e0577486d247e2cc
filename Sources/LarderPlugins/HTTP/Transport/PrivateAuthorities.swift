#if canImport(Darwin)
    import Foundation
    import LarderCore
    import Security

    /// The only authorities whose certificates are trusted.
    struct PrivateAuthorities {
        private let certificates: [SecCertificate]

        /// Reads a file in PEM.
        ///
        /// - Throws: ``HTTPFailure`` if the file cannot be read or has no certificate.
        init(path: String) throws {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw HTTPFailure(.tls, "the file of trusted authorities cannot be read")
            }
            certificates = text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst().compactMap { part in
                let base64 = part.components(separatedBy: "-----END CERTIFICATE-----")[0]
                return Data(base64Encoded: base64, options: .ignoreUnknownCharacters).flatMap {
                    SecCertificateCreateWithData(nil, $0 as CFData)
                }
            }
            guard !certificates.isEmpty else {
                throw HTTPFailure(.tls, "the file of trusted authorities has no certificate")
            }
        }

        /// Checks the certificate of a server.
        ///
        /// - Throws: ``HTTPFailure`` if these authorities do not vouch for it.
        func check(_ server: SecTrust) throws {
            guard SecTrustSetAnchorCertificates(server, certificates as CFArray) == errSecSuccess,
                SecTrustSetAnchorCertificatesOnly(server, true) == errSecSuccess,
                SecTrustEvaluateWithError(server, nil)
            else { throw HTTPFailure(.tls, "the server's certificate is not trusted") }
        }
    }
#endif
