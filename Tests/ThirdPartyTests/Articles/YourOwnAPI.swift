// The code of the page "Your own API" in Larder.docc, as it stands there: YourOwnAPITests compares the two and runs it.

import Foundation
import Larder
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A shop's price list behind HTTP.
struct PriceService: Sendable {
    let base: URL
    private let session: URLSession

    init(base: URL) {
        self.base = base
        let configuration = URLSessionConfiguration.ephemeral
        // Larder keeps the copies, and a policy's `timeout` decides how long a call may take.
        configuration.urlCache = nil
        configuration.timeoutIntervalForRequest = 300
        session = URLSession(configuration: configuration)
    }

    func fetch(_ call: Call) async throws -> Loaded<Entry> {
        let id = call.request.parameters["id"] ?? "all"
        var request = URLRequest(url: base.appending(path: "prices").appending(path: id))
        // The copy that is there, fresh or not. The service answers 304 if it is still current.
        if let etag = call.known?.metadata.etag { request.setValue(etag, forHTTPHeaderField: "If-None-Match") }
        let (body, response) = try await session.answer(to: request)
        switch response.statusCode {
        case 200:
            let etag = response.value(forHTTPHeaderField: "ETag")
            return Loaded(Entry(body, Metadata(etag: etag, contentType: response.mimeType)))
        case 304:
            return try .unchanged(call)
        default:
            // 404 and its like are answers, which stand; 5xx, 408, 425 and 429 are failures, for which a copy may stand in.
            let seconds = response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }
            throw LoadError.status(response.statusCode, retryAfter: seconds.map { .seconds($0) })
        }
    }
}

extension URLSession {
    /// The whole answer to a request. A task that is cancelled waits no longer.
    func answer(to request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let exchange = Exchange()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = dataTask(with: request) { body, response, error in
                    if let body, let response = response as? HTTPURLResponse {
                        exchange.end(.success((body, response)))
                    } else {
                        exchange.end(.failure(error ?? URLError(.badServerResponse)))
                    }
                }
                exchange.begin(task, continuation)
            }
        } onCancel: {
            exchange.cancel()
        }
    }
}

/// One request and its answer, or its cancellation: whichever comes first.
private final class Exchange: Sendable {
    typealias Waiter = CheckedContinuation<(Data, HTTPURLResponse), any Error>

    private struct State {
        var waiter: Waiter?
        var task: URLSessionDataTask?
        var isCancelled = false
    }

    private let state = Mutex(State())

    func begin(_ task: URLSessionDataTask, _ waiter: Waiter) {
        let isCancelled = state.withLock { state in
            if state.isCancelled { return true }
            state.waiter = waiter
            state.task = task
            task.resume()
            return false
        }
        if isCancelled { waiter.resume(throwing: CancellationError()) }
    }

    func end(_ result: Result<(Data, HTTPURLResponse), any Error>) {
        take().waiter?.resume(with: result)
    }

    func cancel() {
        let state = take(isCancelled: true)
        // In this order: on Linux, a task that is cancelled while somebody waits for it can end the process.
        state.waiter?.resume(throwing: CancellationError())
        state.task?.cancel()
    }

    /// Takes out what has not ended yet.
    private func take(isCancelled: Bool = false) -> State {
        state.withLock { state in
            let taken = state
            state = State(isCancelled: taken.isCancelled || isCancelled)
            return taken
        }
    }
}

func openPantry(policies: URL, service: URL, cache: URL) async throws -> Pantry {
    let prices = PriceService(base: service)
    var registry = Registry.standard
    try registry.register(.origin("price-service", "The shop's prices.") { call in try await prices.fetch(call) })
    let pantry = try await Pantry(policies: policies, registry: registry, cache: cache)
    return pantry
}

struct Price: Codable, Sendable {
    var cents: Int
    var since: Date
}

/// The shop's JSON: dates as ISO 8601 texts.
enum ShopJSON: JSONFormat {
    static func configure(_ decoder: JSONDecoder) { decoder.dateDecodingStrategy = .iso8601 }
    static func configure(_ encoder: JSONEncoder) { encoder.dateEncodingStrategy = .iso8601 }
}

/// A client that somebody else wrote.
protocol ShopClient: Sendable {
    func price(_ id: String, unless etag: String?) async throws -> (price: Price, etag: String)?
}

func register(_ shop: any ShopClient, in registry: inout Registry) throws {
    try registry.register(
        .origin("shop", returning: Price.self, format: ShopJSON.self) { call in
            let id = call.request.parameters["id"] ?? ""
            guard let answer = try await shop.price(id, unless: call.known?.metadata.etag) else {
                return try .unchanged(call)
            }
            return Fetched(answer.price, etag: answer.etag)
        })
}

func loadPrice(from pantry: Pantry) async throws -> Loaded<Price> {
    let prices = pantry.resource("prices", codec: JSONCodec<Price>(format: ShopJSON.self))
    let price = try await prices.load(["id": "42"])
    return price
}
