import LarderSystem
import LarderCore

// The settings that several plugins of a kind share, and the words that people know them by.

extension Setting {
    /// Returns the setting `fresh` of a validator, with other words for it.
    func calledFresh() -> Setting {
        alsoCalled("ttl", "maxAge", "lifetime", "expires", "expiresIn", "expiration", "staleTime")
    }

    /// Returns the setting `whileRevalidating` of a validator, with other words for it.
    func calledWhileRevalidating() -> Setting { alsoCalled("swr", "staleWhileRevalidate") }

    /// Returns the setting `onError` of a validator, with its purpose and other words for it.
    func calledOnError() -> Setting { advised(.onError).alsoCalled("sie", "staleIfError", "grace") }

    /// Returns the setting `capacity` of a store, with other words for it.
    func calledCapacity() -> Setting {
        alsoCalled("size", "maxSize", "maxBytes", "bytes", "sizeLimit", "totalCostLimit")
    }

    /// Returns the setting `fields` for header fields, with other words for it.
    func calledFields() -> Setting { alsoCalled("headers", "header", "httpHeaders") }

    /// Returns the setting `limit` for the time of a request, with other words for it.
    func calledTimeout() -> Setting { alsoCalled("timeout", "timeoutInterval") }

    /// Returns a setting for the pause between two runs of the same work, with other words for it.
    func calledEvery() -> Setting { alsoCalled("interval", "period", "frequency", "schedule") }
}

extension Setting where Value == Int? {
    /// The setting `entries` of a store.
    static var entries: Setting<Int?> {
        Setting("entries", optional: .int(1...1_000_000_000), help: "The largest number of entries")
            .alsoCalled("count", "countLimit", "maxEntries", "maxItems")
    }
}

extension Setting where Value == Duration {
    /// The setting `forgetAfter` of a store.
    static var forgetAfter: Setting<Duration> {
        Setting(
            "forgetAfter", .duration, default: .forever,
            help: "How long an entry is kept after it was fetched or validated"
        ).alsoCalled("ttl", "maxAge", "expiry", "expires", "expireAfter", "cacheTime", "gcTime")
    }
}
