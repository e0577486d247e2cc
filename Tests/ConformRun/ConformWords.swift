/// The words of scenario files that rows can use. They become:
///
/// - `kind`: the strategy of the same name. With `swr_ms`, `cache-first` becomes `stale-while-revalidate`.
/// - `ttl_ms`, `ttl_jitter_ms`, `swr_ms`, `stale_fallback.max_age_ms`: the windows of the validator `age`. With
///   `network-first`, a copy of any age may replace a failed call unless `max_age_ms` says otherwise.
/// - `ttl_ms` of an entry, and with `origin_ttl` of an answer: a note in the metadata, which the validator `lifetime`
///   reads.
/// - `timeout_ms`: `patience` with `network-first`, the wrapper `timeout` with all others.
/// - `soft_timeout_ms`, `hard_timeout_ms`: `patience`, and the wrapper `timeout`.
/// - `throttle_ms`: the wrapper `breaker` after one failure, or `key-rest` if there are several keys.
/// - `refresh_after_age_ms`, `revalidate`: `refreshAhead`.
/// - `validators`: with `etag` and `last-modified`, the origin's answers name them, and calls carry them. `checksum`
///   is the validator of that name, in stores that count as outside the process.
/// - `failure_statuses`: these statuses are failures, and all others that are errors are answers. Without it, 408,
///   425, 429 and 5xx are failures.
/// - `stores`: a `FaultyStore` in front of `memory` for each; `tiered`, if there are several. Stores that are not
///   named `memory` count as outside the process.
/// - `max_entries`, `max_bytes`, `retention_ms`: `entries`, `capacity`, `forgetAfter`. `max_bytes` counts only
///   payloads.
/// - `tier_timeout_ms`: `limit`.
/// - `eviction`: `lru`, or `oldest`, which evicts the entry that was stored first.
/// - `faults`: the faults of `FaultyStore`. `enospc` lets metadata be written. `nth` counts each kind of operation by
///   itself.
/// - `get`, `get-local`: a load, and a load with the mode `cachedOnly`.
/// - `send`: `send` of the resource. Its success makes the copy out of date, unless the `method` is a safe one such as
///   `GET`.
/// - `put`: `save` of the resource. Its error is `store` if no store could write the value.
/// - `drop`: one store loses the entry.
/// - `sweep`: nothing, because a store enforces its limits at each write and each read.
/// - `status`: an error is handed through with the body of its reply. An answer that is not 200 is used and not kept.
/// - `body_writes`: the payloads written to the first store, including copies from lower stores.
/// - `store_errors`: the store faults in the metrics.
/// - `honour_http`: the validator `http` in place of `age`. `ttl_ms`, `swr_ms` and `stale_fallback` are its settings.
///   The headers of answers and entries become metadata as those of an HTTP server do. The age of an entry is
///   `age_ms`, and that of an answer counts from its arrival. Conditional calls need no `validators`.
/// - `shared`: `shared` of the validator `http`.
/// - `request_headers`: the fields of the request.
/// - `local_first`: nothing, because copies are looked for first in any case. With `outbox`, `onRead`.
/// - `outbox`: the section of that name. Each queue is a resource. Rows with `put`, `get` or `collapse_same_key` keep records
///   and push them with `rest`.
/// - `enqueue`: `send` without a network, or `put` of a record. `replay`: `sync`.
/// - `dropped`: the changes that were given up because of `retention`.
/// - `result`: whether the record waits after the first try.
enum ConformWords {
    /// The objects of a row and the names of their members.
    static let all: [(place: String, names: [String])] = [
        (
            "strategy",
            [
                "kind", "ttl_ms", "ttl_jitter_ms", "origin_ttl", "timeout_ms", "soft_timeout_ms", "hard_timeout_ms",
                "stale_fallback", "swr_ms", "refresh_after_age_ms", "revalidate", "validators", "failure_statuses",
                "tier_timeout_ms", "eviction", "retention_ms", "local_first", "honour_http", "shared",
                "collapse_same_key",
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
                "queue", "expect",
            ]
        ),
        (
            "steps.expect",
            [
                "value", "length", "freshness", "from", "done_at_ms", "origin_calls", "status", "error", "headers",
                "store_errors", "sent", "dropped", "result",
            ]
        ),
        ("end", ["at_ms", "origin_calls", "body_writes", "stored", "store_errors", "queues"]),
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
