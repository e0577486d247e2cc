import Larder

/// The example of the article "Download for offline".
enum DownloadForOffline {
    struct Article: Codable, Sendable { var title: String }

    /// The text and the bar that a screen shows.
    final class Bar {
        private(set) var shown: [String] = []
        private(set) var share = 0.0
        private(set) var warnings: [String] = []

        func show(_ text: String, share: Double) {
            shown.append(text)
            self.share = share
        }

        func warn(_ text: String) { warnings.append(text) }
    }

    /// Returns the title of the first article, as it is read without a network.
    static func run(_ pantry: Pantry, _ chosen: [Parameters], _ bar: Bar) async throws -> String {
        let articles = pantry.resource("articles", as: Article.self)
        let download = try await articles.keep(chosen)
        for await progress in download.progress {
            bar.show("\(progress.done) of \(progress.total)", share: progress.share)
        }
        for failure in download.failures { bar.warn(failure.error.message) }
        let size = try await articles.kept().compactMap(\.size).reduce(0, +)
        bar.show("\(size) bytes are on the device", share: 1)
        let first = try await articles.load(chosen[0])
        try await articles.unkeep(chosen)
        return first.value.title
    }
}
