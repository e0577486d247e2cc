// The code of the page "Screens" in Larder.docc, as it stands there: ScreensExampleTests compares the two. It is compiled
// where these frameworks are.

#if canImport(SwiftUI)
    import Larder
    import SwiftUI

    struct Article: Decodable, Sendable, Identifiable {
        let id: String
        let title: String
    }

    struct FeedScreen: View {
        @State private var feed: LiveResource<[Article]>

        init(_ pantry: Pantry) {
            _feed = State(initialValue: pantry.resource("feed", as: [Article].self).live())
        }

        var body: some View {
            List(feed.value ?? []) { article in Text(article.title) }
                .overlay { if case .loading = feed.phase { ProgressView() } }
                .safeAreaInset(edge: .top) { Banner(phase: feed.phase, age: feed.age) }
                .refreshable { await feed.refresh() }
                .task { await feed.reload() }
        }
    }

    struct Banner: View {
        let phase: LiveResource<[Article]>.Phase
        let age: Duration?

        var body: some View {
            switch phase {
            case .loading, .fresh: EmptyView()
            case .stale(_, let age, let isRefreshing):
                HStack {
                    Text(Self.label(age))
                    if isRefreshing { ProgressView() }
                }
            case .empty: Text("Nothing here yet")
            case .failed(_, nil): Text("The feed cannot be loaded")
            case .failed(_, _?): Text("Not up to date: " + Self.label(age))
            case .offline(nil): Text("No network")
            case .offline(_?): Text("No network: " + Self.label(age))
            }
        }

        static func label(_ age: Duration?) -> String {
            guard let age else { return "of unknown age" }
            return age.formatted(.units(allowed: [.days, .hours, .minutes], maximumUnitCount: 1)) + " old"
        }
    }
#endif

#if canImport(UIKit) && !os(watchOS)
    import Larder
    import UIKit

    final class FeedController: UITableViewController {
        var feed: LiveResource<Data>?
        private var following: Task<Void, Never>?

        override func viewWillAppear(_ animated: Bool) {
            super.viewWillAppear(animated)
            guard let feed else { return }
            following = Task { [weak self] in
                for await phase in feed.phases { self?.show(phase) }
            }
            Task { await feed.reload() }
        }

        override func viewDidDisappear(_ animated: Bool) {
            super.viewDidDisappear(animated)
            following?.cancel()
        }

        private func show(_ phase: LiveResource<Data>.Phase) {
            if case .offline = phase { title = "No network" } else { title = nil }
            tableView.reloadData()
        }
    }
#endif

#if canImport(Combine)
    import Combine
    import Larder

    extension Resource {
        /// Returns a publisher of the copy, then the origin's answer, then every value that any load saves.
        func publisher(for request: Request) -> AnyPublisher<Update<Value>, any Error> {
            let subject = PassthroughSubject<Update<Value>, any Error>()
            let task = Task {
                do {
                    for try await update in updates(request) { subject.send(update) }
                    subject.send(completion: .finished)
                } catch {
                    subject.send(completion: .failure(error))
                }
            }
            return subject.handleEvents(receiveCancel: { task.cancel() }).eraseToAnyPublisher()
        }
    }
#endif
