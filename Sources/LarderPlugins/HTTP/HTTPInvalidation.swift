import LarderCore

/// The copies that a change at a server puts out of date (RFC 9111, section 4.4).
enum HTTPInvalidation {
    /// The methods that change nothing.
    private static let safe: Set = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]

    /// Returns the copies of the URL that was changed, and of those that the answer names in `Location` and
    /// `Content-Location`. A copy of another server is never among them.
    static func selections(
        after change: Request, method: String, answer: Metadata, at url: HTTPURL
    ) -> [Selection] {
        if safe.contains(method) { return [] }
        let named = [change.parameters] + locations(in: answer, of: change, at: url)
        let keys = named.map { Key(resource: change.key.resource, scope: change.key.scope, parameters: $0) }
        // A lookup with the same body has a key of its own.
        return Set(keys + [change.key]).sorted { $0.text < $1.text }.map(Selection.key)
    }

    /// Returns the parameters of the URLs that an answer names.
    private static func locations(in answer: Metadata, of change: Request, at url: HTTPURL) -> [[String: String]] {
        // After a redirect, the answer is that of another URL.
        guard answer[.redirectTarget] == nil, let text = try? url.expanded(with: change.parameters),
            let target = HTTPAddress(text)
        else { return [] }
        return ["location", "content-location"].compactMap { name in
            answer.fields[name].flatMap(target.resolving).flatMap(url.parameters)
        }
    }
}
