import LarderCore

extension HTTPRequest {
    /// Checks what every transport relies on: a valid method, and a URL with the scheme http or https and with no
    /// character that could end the request's first line.
    ///
    /// - Throws: ``HTTPFailure`` if the request cannot be sent.
    func check() throws(HTTPFailure) {
        let isToken =
            !method.isEmpty
            && method.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"()<>@,;:\\\"/[]?={}".utf8.contains($0) }
        guard isToken else { throw HTTPFailure(.other, "the method is not valid") }
        guard url.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw HTTPFailure(.other, "the URL contains a character that must be percent-encoded")
        }
        let start = url.utf8.prefix(8).map(HTTPText.lowercased)
        guard start.starts(with: "http://".utf8) || start.elementsEqual("https://".utf8) else {
            throw HTTPFailure(.other, "the URL does not begin with http:// or https://")
        }
        guard method != "HEAD" || body == nil else { throw HTTPFailure(.other, "a HEAD request cannot have a body") }
    }

    /// The scheme, host and port of the URL.
    var server: String {
        var slashes = 0
        let end = url.utf8.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        return String(url[..<(end ?? url.endIndex)])
    }

    /// Whether the server may receive the request twice, because the second time changes nothing more.
    var isRepeatable: Bool {
        ["GET", "HEAD", "OPTIONS", "QUERY", "TRACE", "PUT", "DELETE"].contains(method)
    }
}
