import LarderCore

#if canImport(Darwin)
    import Foundation
#endif

extension HTTPHead {
    /// The compressions that `URLSession` undoes.
    private static let unpacked: Set = ["gzip", "x-gzip", "deflate", "br", "identity"]

    /// Takes the fields of a response of a session. The version is unknown, and the fields are in the order of their
    /// names.
    ///
    /// - Throws: ``HTTPFailure`` if they are too large or not valid.
    init(status: Int, sessionFields: [AnyHashable: Any]) throws(HTTPFailure) {
        self.init(status: status, version: "")
        var size = 0
        for (name, value) in sessionFields {
            let (name, value) = ("\(name)", "\(value)")
            size += name.utf8.count + value.utf8.count
            guard let field = Fields.Field(name, value) else {
                throw HTTPFailure(.malformed, "a header field of the answer is not valid")
            }
            fields.append(field)
        }
        guard size <= HTTPHeadReader.capacity else {
            throw HTTPFailure(.tooLarge, "the answer's head is too large")
        }
        fields.sort { $0.name < $1.name }
        try readLength()
        guard codings.allSatisfy(Self.unpacked.contains) else {
            throw HTTPFailure(.malformed, "the body of the answer cannot be decompressed")
        }
    }

    /// Returns the number of bytes of the decoded body, if the fields tell it.
    func decodedLength(to method: String) -> Int? { isEncoded || hasNoBody(to: method) ? nil : length }
}

#if canImport(Darwin)
    extension HTTPFailure {
        /// The failure that an error of `URLSession` tells of.
        init(_ error: any Error) {
            guard let error = error as? URLError else {
                self.init(.other, "the request failed")
                return
            }
            // These are codes of CFNetwork for proxies that fail.
            let underlying = (error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code ?? 0
            if [306, 310, 311].contains(underlying) {
                self.init(.proxy, "the proxy did not pass the request on")
                return
            }
            switch error.code {
            case .cannotFindHost, .dnsLookupFailed: self.init(.noAddress, "the server's name has no address")
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
                self.init(.noConnection, "there is no network")
            case .cannotConnectToHost: self.init(.noConnection, "no connection to the server could be made")
            case .timedOut: self.init(.timeout, "the server did not answer in time")
            case .networkConnectionLost: self.init(.reset, "the connection ended before the answer was complete")
            case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
                .serverCertificateNotYetValid:
                self.init(.tls, "the server's certificate is not trusted")
            case .clientCertificateRequired, .clientCertificateRejected:
                self.init(.tls, "the server wants a certificate of the client")
            case .secureConnectionFailed: self.init(.tls, "the server does not speak TLS as it should")
            case .appTransportSecurityRequiresSecureConnection:
                self.init(.tls, "the app's settings forbid connections without TLS")
            case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
                self.init(.malformed, "the answer is not valid")
            case .dataLengthExceedsMaximum: self.init(.tooLarge, "the answer is too large")
            default: self.init(.other, "the request failed")
            }
        }
    }
#endif
