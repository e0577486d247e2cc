extension Registry {
    /// The plugins that come with Larder: the one place that names them. Adding one is one file and one line here.
    public static let standard: Registry = {
        var registry = Registry()
        let plugins: [Plugin] = [
            .fileOrigin, .constant, .mirrors, .sample(),
            .timeout, .retry, .breaker, .limit, .hedge,
            .networkFirst, .cacheFirst, .staleWhileRevalidate, .race, .cacheOnly, .networkOnly,
            .age, .checksum, .entryVersion, .contentType, .maxSize,
            .memoryStore, .fileStore, .tieredStore, .noStore,
            .adaptive, .wTinyLFU, .s3FIFO, .lru,
        ]
        for plugin in plugins { registry.add(plugin) }
        return registry
    }()
}
