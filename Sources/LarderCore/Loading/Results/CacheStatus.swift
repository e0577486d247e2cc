import LarderSystem

extension Loaded {
    /// The way in which the value was found, as a value of the HTTP field `Cache-Status` (RFC 9211).
    ///
    /// ```
    /// Larder; hit; ttl=376
    /// Larder; fwd=miss; fwd-status=200; ttl=60; stored
    /// Larder; fwd=stale; fwd-status=304; ttl=60; stored; collapsed
    /// Larder; fwd=request; fwd-status=304; ttl=60; stored
    /// Larder; fwd=stale; ttl=-30; detail=fallback
    /// ```
    ///
    /// `ttl` is the number of seconds until freshness ends, negative after that. It is left out if no validator sets a
    /// length of freshness. `fwd=miss` means that there was no copy which the origin could confirm. `fwd=stale` means
    /// that the copy was stale. `fwd=request` means that the copy was fresh, and the request or the strategy asked
    /// nevertheless. The text holds no key, parameter or payload.
    public var cacheStatus: String {
        var parts = ["Larder"]
        let isCopy: Bool
        switch source {
        case .store:
            isCopy = true
            parts.append(fellBack && trail.saysCalled ? "fwd=stale" : "hit")
        case .revalidated:
            isCopy = false
            parts.append(provenance.known == .fresh ? "fwd=request" : "fwd=stale")
            // The status of the metadata is that of the answer which brought the payload.
            if metadata?.status != nil { parts.append("fwd-status=304") }
        case .origin:
            isCopy = false
            switch provenance.known {
            case .none: parts.append("fwd=miss")
            case .stale: parts.append("fwd=stale")
            case .fresh: parts.append("fwd=request")
            }
            if let status = metadata?.status { parts.append("fwd-status=\(status)") }
        case .fallback:
            isCopy = true
            parts.append("fwd=miss")
        }
        if let lifetime = permissions.freshFor, lifetime < .forever, let age {
            let left = (lifetime - age).nanoseconds
            let second: Int64 = 1_000_000_000
            // Half a second of freshness is none. So a fresh value never has a negative number.
            parts.append("ttl=\(left < 0 ? -((second - 1 - left) / second) : left / second)")
        }
        if isStored, !isCopy { parts.append("stored") }
        if trail.steps.contains(where: { $0.event.kind == .joined }) { parts.append("collapsed") }
        if fellBack { parts.append("detail=fallback") }
        return parts.joined(separator: "; ")
    }
}

extension Trail {
    /// Whether a call failed or took too long. Otherwise the origin was not asked.
    fileprivate var saysCalled: Bool {
        !steps.contains { $0.event.kind == .resting || $0.event.kind == .offline }
    }
}
