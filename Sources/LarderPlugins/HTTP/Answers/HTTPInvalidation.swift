import LarderCore

/// The copies that a change at a server puts out of date (RFC 9111, section 4.4).
enum HTTPInvalidation {
    /// The methods that change nothing.
    private static let safe: Set = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]

    /// Returns the copies of the URL that was changed, and of those that the answer names in `Location` and
    /// `Content-Location`. A copy of another server is never among them.
    ///
    /// - Parameter lookup: the method of lookups.
    static func selections(
        after change: Request, method: String, answer: Metadata, at url: HTTPURL, lookup: String
    ) -> [Selection] {
        if safe.contains(method) { return [] }
        let named = Set([change.parameters] + locations(in: answer, of: change, at: url))
        let keys = named.map { key(of: change, $0) }.sorted { $0.text < $1.text }
        // Lookups with a body have keys of their own.
        let mayHaveBody = !["GET", "HEAD"].contains(lookup)
        return keys.map(Selection.key) + (mayHaveBody ? keys.map { .tag(tag(of: $0)) } : [])
    }

    /// Returns the tag of the copies of all lookups with a body that have the same parameters and account.
    static func tag(ofLookup request: Request) -> String { tag(of: key(of: request, request.parameters)) }

    private static func tag(of key: Key) -> String { "http.lookup-" + key.digest.prefix(32) }

    /// Returns the key of a request with these parameters and no body.
    private static func key(of request: Request, _ parameters: Parameters) -> Key {
        Key(resource: request.key.resource, scope: request.key.scope, parameters: parameters)
    }

    /// Returns the parameters of the URLs that an answer names.
    private static func locations(in answer: Metadata, of change: Request, at url: HTTPURL) -> [Parameters] {
        // After a redirect, the answer is that of another URL.
        guard answer[.redirectTarget] == nil, let text = try? url.expanded(with: change.parameters.dictionary),
            let target = HTTPAddress(text)
        else { return [] }
        return ["location", "content-location"].flatMap { name in
            answer.fields[name].flatMap(target.resolving).map(url.parameters)?.map { Parameters($0) } ?? []
        }
    }
}
