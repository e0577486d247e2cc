import Larder
import LarderFoundation
import LarderSync
import LarderSystem

/// The example of the article "Requests that survive".
enum OfflineRequestsArticle {
    struct Screen: Sendable {
        let texts = Locked<[String]>([])
        func show(_ text: String) { texts.withLock { $0.append(text) } }
    }

    static func like(_ video: String, body: Data, in pantry: Pantry, on screen: Screen) async throws {
        let likes = pantry.resource("likes")
        let answer = try await likes.send(likes.request(["id": video], body: body), method: "PUT")
        screen.show(answer.source == .origin ? "Liked" : "Liked. It is sent when there is a network.")
    }

    static func takeBack(_ pantry: Pantry) async throws {
        let requests = pantry.records("likes")
        for request in try await requests.query().records { try await requests.undo(request.id) }
        try await requests.sync()
    }

    static func correct(_ pantry: Pantry) async throws {
        for request in try await pantry.records("likes").rejected() {
            try await request.restore { $0 = $0.setting(["parameters", "id"], to: JSONText(string: "43")) }
        }
    }
}
