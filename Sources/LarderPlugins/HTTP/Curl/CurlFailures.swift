#if canImport(Glibc) || canImport(Musl)
    import LarderCore

    extension HTTPFailure {
        /// The failure that a result code of libcurl stands for.
        ///
        /// - Parameters:
        ///   - words: libcurl's own words. They only tell failures with the same code apart.
        ///   - hasHead: whether the head of the answer had arrived.
        init(curl code: Int32, _ words: String, hasHead: Bool) {
            switch code {
            case 3: self.init(.other, "the URL is not valid")
            case 5: self.init(.proxy, "the proxy's name has no address")
            case 6: self.init(.noAddress, "the server's name has no address")
            case 7: self.init(.noConnection, "no connection to the server could be made")
            // 1 is also for URLs that are neither http nor https, which are refused before.
            // 43 is for a field behind the body that is none.
            case 1, 8, 16, 43, 88: self.init(.malformed, "the answer is not valid HTTP")
            // A line that is too long is reported as a lack of memory.
            case 27 where !hasHead, 63,
                100 where !hasHead:
                self.init(.tooLarge, "the answer's head is too large")
            case 27, 100: self.init(.tooLarge, "more of the answer arrived than fits into memory")
            // The only limit that libcurl is given.
            case 28: self.init(.connectTimeout, "no connection to the server within the limit")
            case 56 where words.contains("chunk"): self.init(.malformed, "the body of the answer is not valid HTTP")
            case 52: self.init(.reset, "the server closed the connection without an answer")
            case 18, 42, 55, 56, 65, 92:
                self.init(.reset, "the connection ended before the answer was complete")
            case 23, 61: self = .undecodable
            case 51, 60, 83, 90, 91: self.init(.tls, "the server's certificate is not trusted")
            case 77: self.init(.tls, "the file with the trusted authorities cannot be read")
            case 35, 53, 54, 58, 59, 64, 66, 80, 82, 98:
                self.init(.tls, "no secure connection to the server could be made")
            case 67: self.init(.other, "the URL contains a user name or a password")
            case 97: self.init(.proxy, "the proxy did not pass the request on")
            default: self.init(.other, "libcurl failed with code \(code)")
            }
        }
    }
#endif
