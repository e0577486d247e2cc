import LarderCore

/// The wishes of a request about copies, from its own fields.
///
/// `only-if-cached` is not among them: ``Request/Mode-swift.enum/cachedOnly`` says the same.
struct RequestRules {
    let control: CacheControl
    /// Whether no copy may be shown before the origin has confirmed it.
    let isNoCache: Bool

    /// Returns nil if the request has no wishes.
    @inline(__always)
    init?(_ request: Request) {
        let fields = request.fields
        if fields.isEmpty { return nil }
        self.init(fields)
    }

    @inline(never)
    private init?(_ fields: Fields) {
        let values = fields.all("cache-control")
        control = CacheControl(values)
        let pragma = values.isEmpty ? fields.all("pragma").flatMap(HTTPVary.names) : []
        if values.isEmpty, pragma.isEmpty { return nil }
        isNoCache = control.flags.contains(.noCache) || pragma.contains("no-cache")
    }

    /// Returns the age up to which a copy is fresh enough for the request, in nanoseconds.
    func limit(within lifetime: Int64) -> Int64 {
        let youngest = control.maxAge.map { min(lifetime, $0 * CopyWindow.second) } ?? lifetime
        return control.minFresh.map { min(youngest, lifetime - $0 * CopyWindow.second) } ?? youngest
    }
}
