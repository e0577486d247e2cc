/// The address of a resource of an HTTP server: the parts of an absolute URL, without a fragment.
struct HTTPAddress: Hashable, Sendable {
    /// The server: scheme, host and port. Credentials are for one server only.
    struct Server: Hashable, Sendable {
        /// `http` or `https`.
        var scheme: String
        /// The host in lower case, as the URL has it.
        var host: String
        /// The port, also if the URL leaves it out.
        var port: Int

        var isSecure: Bool { scheme == "https" }

        /// Whether the host is a name or an address of the loopback interface.
        var isThisDevice: Bool {
            if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
        }
    }

    let server: Server
    /// The path and the query. It begins with a slash.
    let target: String

    /// The absolute URL.
    var url: String {
        let port = server.port == Self.port(of: server.scheme) ? "" : ":\(server.port)"
        return "\(server.scheme)://\(server.host)\(port)\(target)"
    }

    /// The path, without the query.
    var path: Substring { target.prefix { $0 != "?" } }

    private init(_ server: Server, _ target: some StringProtocol) {
        self.server = server
        self.target = Self.withoutDotSegments(target)
    }

    /// Reads an absolute URL. Returns nil if it is none, its scheme is not `http` or `https`, it contains a user or
    /// password, or its host is not valid.
    init?(_ url: String) {
        let text = Self.plain(url)
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
        let scheme = text[..<colon].lowercased()
        let rest = text[text.index(colon, offsetBy: 3)...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let server = Self.server(scheme, authority) else { return nil }
        self.init(server, rest.dropFirst(authority.count))
    }

    /// Returns the address that a reference in an answer of this address means, such as the value of `Location`. Returns
    /// nil if it is not valid.
    func resolving(_ reference: String) -> HTTPAddress? {
        let text = Self.plain(reference)
        let scheme = text.prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        if scheme.count < text.count, text.dropFirst(scheme.count).hasPrefix(":"), !scheme.isEmpty {
            return HTTPAddress(String(text))
        }
        if text.hasPrefix("//") { return HTTPAddress(server.scheme + ":" + text) }
        if text.hasPrefix("/") { return HTTPAddress(server, text) }
        if text.isEmpty { return self }
        if text.hasPrefix("?") { return HTTPAddress(server, path + text) }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        return HTTPAddress(server, folder + text)
    }

    // MARK: Parts

    /// Returns a URL without its fragment, and with all characters encoded that URLs do not allow. Servers send some of
    /// them in `Location`.
    private static func plain(_ url: String) -> String {
        let bytes = url.utf8.prefix { $0 != UInt8(ascii: "#") }.flatMap { byte in
            let isAllowed = byte > 0x20 && byte < 0x7F && !"\"<>\\^`{|}".utf8.contains(byte)
            return isAllowed ? [byte] : URLTemplate.code(of: byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func server(_ scheme: String, _ authority: Substring) -> Server? {
        guard let usual = port(of: scheme) else { return nil }
        var host = authority
        var port = usual
        let afterHost = authority.hasPrefix("[") ? authority.drop { $0 != "]" }.dropFirst() : authority[...]
        if let colon = afterHost.lastIndex(of: ":") {
            host = authority[..<colon]
            let digits = afterHost[afterHost.index(after: colon)...]
            if !digits.isEmpty {
                guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
                    1...65_535 ~= number
                else { return nil }
                port = number
            }
        }
        return isHost(host) ? Server(scheme: scheme, host: host.lowercased(), port: port) : nil
    }

    private static func port(of scheme: String) -> Int? { ["http": 80, "https": 443][scheme] }

    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("["), host.hasSuffix("]") {
            let address = host.dropFirst().dropLast()
            return address.contains(":") && address.utf8.allSatisfy { "0123456789abcdefABCDEF:.".utf8.contains($0) }
        }
        return !host.isEmpty && host.utf8.allSatisfy { URLTemplate.isLetterOrDigit($0) || "-._".utf8.contains($0) }
    }

    /// Returns a path, and the query after it, without the segments `.` and `..`.
    private static func withoutDotSegments(_ target: some StringProtocol) -> String {
        let path = target.prefix { $0 != "?" }
        let query = target.dropFirst(path.count)
        guard !path.isEmpty else { return "/" + query }
        var kept: [Substring] = []
        let steps = String(path).split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (place, step) in steps.enumerated() {
            let dots = dots(in: step)
            if dots == 2 { _ = kept.popLast() }
            if dots == 0 { kept.append(step) } else if place == steps.count - 1 { kept.append("") }
        }
        return "/" + kept.joined(separator: "/") + query
    }

    /// Returns 1 for the segment `.` and 2 for `..`, also if they are percent-encoded; 0 for all others.
    static func dots(in segment: some StringProtocol) -> Int {
        guard (1...6).contains(segment.utf8.count) else { return 0 }
        var rest = segment.lowercased()[...]
        var dots = 0
        while !rest.isEmpty {
            if rest.hasPrefix(".") {
                rest = rest.dropFirst()
            } else if rest.hasPrefix("%2e") {
                rest = rest.dropFirst(3)
            } else {
                return 0
            }
            dots += 1
        }
        return dots <= 2 ? dots : 0
    }
}
