// The code of the page "In an iOS app" in Larder.docc, as it stands there: InAnIOSAppTests compares the two. It also
// compiles in a target whose default isolation is the main actor, as a new Xcode project has it: see MainActorTests.

import Foundation
import Larder
import Observation

nonisolated struct Headline: Decodable, Sendable, Identifiable {
    let id: String
    let title: String
    let picture: String
}

@MainActor @Observable final class NetworkStatus {
    private(set) var state = NetworkState.unknown

    func follow() async {
        for await state in SystemNetwork().changes { self.state = state }
    }
}

#if canImport(SwiftUI) && os(iOS)
    import SwiftUI
    import UIKit

    struct NewsApp: App {
        static let refresh = "com.example.news.refresh"
        static let pantry = Task {
            try await Pantry(policies: Bundle.main.bundleURL.appending(path: "Policies"), ifUnsound: .useLastSound)
        }

        @State private var opened: Result<Pantry, any Error>?
        @Environment(\.scenePhase) private var scenePhase

        init() {
            BackgroundRefresh.register(Self.refresh) { try? await Self.pantry.value }
        }

        var body: some Scene {
            WindowGroup {
                switch opened {
                case .success(let pantry): NewsScreen(pantry: pantry)
                case .failure(let error): Text(String(describing: error))
                case nil: ProgressView().task { opened = await Self.pantry.result }
                }
            }
            .onChange(of: scenePhase) {
                guard case .success(let pantry) = opened else { return }
                if scenePhase == .background {
                    let next = pantry.attachment(RefreshSchedule.self, of: "news")?.nextDue
                    try? BackgroundRefresh.request(Self.refresh, notBefore: next)
                } else if scenePhase == .active, !pantry.cacheProblems.isEmpty {
                    Task { try? await pantry.reload() }
                }
            }
        }
    }

    struct NewsScreen: View {
        let pantry: Pantry
        @State private var news: LiveResource<[Headline]>?
        @Environment(\.scenePhase) private var scenePhase

        var body: some View {
            List(news?.value ?? []) { headline in
                HStack {
                    Picture(name: headline.picture, pictures: pantry.resource("pictures", codec: PictureCodec()))
                        .frame(width: 64, height: 64)
                    Text(headline.title)
                }
            }
            .overlay { if case .loading = news?.phase { ProgressView() } }
            .safeAreaInset(edge: .top) { if let note { Text(note).font(.footnote) } }
            .refreshable { await news?.refresh() }
            .task(id: scenePhase) {
                guard scenePhase == .active else { return }
                if let news { await news.reload() } else { news = pantry.resource("news", as: [Headline].self).live() }
            }
        }

        private var note: String? {
            switch news?.phase {
            case nil, .loading, .fresh: nil
            case .stale(_, let age, _): Self.text(age)
            case .empty: "Nothing here yet"
            case .failed(_, let shown): shown.map { "Not up to date: " + Self.text($0.age) } ?? "No answer"
            case .offline(let shown): shown.map { "No network: " + Self.text($0.age) } ?? "No network"
            }
        }

        private static func text(_ age: Duration?) -> String {
            guard let age else { return "of unknown age" }
            return age.formatted(.units(allowed: [.days, .hours, .minutes], maximumUnitCount: 1)) + " old"
        }
    }

    struct PictureCodec: Codec {
        func decode(_ bytes: Data) throws -> UIImage {
            guard let image = UIImage(data: bytes) else { throw CocoaError(.fileReadCorruptFile) }
            return image.preparingForDisplay() ?? image
        }

        func cost(of image: UIImage) -> Int { image.cgImage.map { $0.bytesPerRow * $0.height } ?? 0 }
    }

    struct Picture: View {
        let name: String
        let pictures: Resource<UIImage>
        @State private var loaded: Loaded<UIImage>?
        @State private var hasFailed = false

        var body: some View {
            ZStack {
                Color.secondary.opacity(0.2)
                if let loaded {
                    Image(uiImage: loaded.value).resizable().scaledToFill()
                        .opacity(loaded.freshness == .fresh ? 1 : 0.7)
                } else if hasFailed {
                    Image(systemName: "photo")
                }
            }
            .clipped()
            .task(id: name) {
                (loaded, hasFailed) = (nil, false)
                do { loaded = try await pictures.load(["name": name]) } catch { hasFailed = !Task.isCancelled }
            }
        }
    }

    struct NetworkLine: View {
        @State private var network = NetworkStatus()

        var body: some View {
            Text(network.state.reach == .offline ? "No network" : network.state.isCostly ? "Saving data" : "Online")
                .task { await network.follow() }
        }
    }
#endif
