public import LarderCore

extension Plugin {
    /// The plugins that come with Larder. This is the only list of them: to add a plugin, write its file and add its
    /// line here.
    public static let standard: [Plugin] = [
        .http, .fileOrigin, .constant, .mirrors, .sample(),
        .timeout, .retry, .breaker, .limit, .hedge,
        .networkFirst, .cacheFirst, .staleWhileRevalidate, .race, .cacheOnly, .networkOnly,
        .age, .httpRules, .checksum, .entryVersion, .contentType, .maxSize,
        .memoryStore, .fileStore, .sqliteStore, .tieredStore, .noStore,
        .adaptive, .lru,
        .expensive, .prefetchList, .promises, .refreshSection,
        .otlp,
    ]
}
