/// The words of scenario files that rows can use.
enum ConformWords {
    /// The objects of a row and the names of their members.
    static let all: [(place: String, names: [String])] = [
        (
            "strategy",
            [
                "kind", "ttl_ms", "ttl_jitter_ms", "origin_ttl", "timeout_ms", "soft_timeout_ms", "hard_timeout_ms",
                "stale_fallback", "swr_ms", "refresh_after_age_ms", "revalidate", "validators", "failure_statuses",
                "tier_timeout_ms", "eviction", "retention_ms", "local_first", "honour_http", "shared",
            ]
        ),
        ("strategy.stale_fallback", ["max_age_ms", "throttle_ms", "soft_timeout_ms", "hard_timeout_ms"]),
        ("stores", ["name", "max_entries", "max_bytes", "faults"]),
        ("stores.faults", ["op", "error", "delay_ms", "nth"]),
        (
            "entries",
            [
                "store", "key", "value", "value_is", "age_ms", "ttl_ms", "etag", "last_modified", "headers",
                "body_missing", "checksum_ok",
            ]
        ),
        (
            "origin",
            ["delay_ms", "status", "value", "error", "requires", "headers", "etag", "last_modified", "ttl_ms"]
        ),
        ("origin.requires", ["if_none_match", "if_modified_since", "range"]),
        (
            "steps",
            [
                "at_ms", "op", "key", "value", "store", "count", "cancel_at_ms", "request_headers", "method", "body",
                "expect",
            ]
        ),
        (
            "steps.expect",
            [
                "value", "length", "freshness", "from", "done_at_ms", "origin_calls", "status", "error", "headers",
                "store_errors",
            ]
        ),
        ("end", ["at_ms", "origin_calls", "body_writes", "stored", "store_errors"]),
    ]

    /// The words as lines of a help text.
    static var lines: [String] {
        all.flatMap { place, names in
            var lines = [place + ":"]
            for name in names {
                if lines[lines.count - 1].count + name.count > 100 { lines.append("   ") }
                lines[lines.count - 1] += " " + name
            }
            return lines
        }
    }
}
