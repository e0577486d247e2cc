import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation

extension SimulatedPantry {
    /// A load of a request that goes on beside the test.
    func start(_ request: Request) -> Started<Loaded<Data>> {
        world.start { [feed] in try await feed.load(request) }
    }

    /// A request for a language.
    func request(
        in language: String, _ parameters: Parameters = [:], mode: Request.Mode = .normal, trace: String? = nil
    ) -> Request {
        var request = feed.request(parameters, mode: mode, fields: ["Accept-Language": language])
        request.fields["X-Trace"] = trace
        return request
    }
}

extension ScriptedOrigin.Act {
    /// Answers with the language that the call asks for, and says that the answer varies by fields.
    static func language(
        after: Duration = .zero, etag: String? = nil, tags: [String] = [],
        variesBy names: [String] = ["Accept-Language"]
    ) -> Self {
        .answering(after: after) { call in
            let language = call.request.fields["Accept-Language"] ?? "none"
            var metadata = Metadata(etag: etag.map { $0 + language }, tags: tags)
            metadata.variesBy = names
            return Entry(Data(language.utf8), metadata)
        }
    }
}

/// The priorities that a listener heard of.
final class Heard: Sendable {
    private let heard = Locked<[Request.Priority]>([])

    var all: [Request.Priority] { heard.withLock { $0 } }

    func add(_ priority: Request.Priority) { heard.withLock { $0.append(priority) } }
}
