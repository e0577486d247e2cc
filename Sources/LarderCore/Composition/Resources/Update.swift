public import LarderFoundation
import LarderSystem

/// An update of one instance of a resource.
public enum Update<Value: Sendable>: Sendable {
    /// A value: the copy in the store, the origin's answer, or a value that another load has saved since.
    case value(Loaded<Value>)
    /// The origin confirms that the last value is still current.
    case unchanged(Loaded<Value>)
    /// The origin failed, or its answer is an error. The last value stays the latest.
    case failed(LoadError)
}

extension Resource {
    /// Returns a stream of the copy in the store, then the origin's answer, then every value that any load saves. It
    /// goes on until nobody reads it.
    ///
    /// With the mode `refresh`, the stream begins with the origin's answer. With `cachedOnly`, it begins with the copy and
    /// does not ask the origin.
    ///
    /// An error ends the stream only if no value came before it; the stream then throws it. If there is no copy, the
    /// fallbacks of the policy may answer.
    ///
    /// The parameters are those of ``load(_:scope:mode:deadline:priority:fields:body:purpose:noOlderThan:)``.
    public func updates(
        _ parameters: Parameters = [:], scope: String? = nil, mode: Request.Mode = .normal,
        deadline: Duration? = nil, priority: Request.Priority = .normal, fields: Fields = [:], body: Data? = nil,
        purpose: Request.Purpose = .user, noOlderThan: Duration? = nil
    ) -> AsyncThrowingStream<Update<Value>, any Error> {
        updates(
            request(
                parameters, scope: scope, mode: mode, deadline: deadline, priority: priority, fields: fields,
                body: body, purpose: purpose, noOlderThan: noOlderThan))
    }

    /// Returns the stream of updates for a request:
    /// see ``updates(_:scope:mode:deadline:priority:fields:body:purpose:noOlderThan:)``.
    ///
    /// If answers vary by fields of the request, the stream has the values for its fields only. ``Request/noOlderThan``
    /// concerns the copy at the beginning.
    public func updates(_ request: Request) -> AsyncThrowingStream<Update<Value>, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(16)) { stream in
            do {
                let graph = try graph()
                guard request.key.isOf(resourceState.resourceName) else { throw LoadError.otherResource }
                let request = resourceState.owned(request)
                let saved = resourceState.saved.stream(most: 1) { [resourceState] in
                    $0.answers(request) && resourceState.isOfPresentSource($0)
                }
                // The stream may outlive the policy, so it holds the graph no longer than its first loads last.
                let first = Locked<LoaderGraph?>(graph)
                let work = graph.world.spawn { await follow(request, saved: saved, first: first, stream: stream) }
                stream.onTermination = { _ in work.cancel() }
            } catch {
                stream.finish(throwing: error)
            }
        }
    }

    private func follow(
        _ request: Request, saved: AsyncStream<SavedEntry>, first: Locked<LoaderGraph?>,
        stream: AsyncThrowingStream<Update<Value>, any Error>.Continuation
    ) async {
        var last: Payload?
        do {
            last = try await begin(request, first: first, stream: stream)
        } catch {
            stream.finish(throwing: error)
            return
        }
        for await update in saved
        where update.entry.payload !== last && resourceState.isOfPresentSource(update) {
            last = update.entry.payload
            do {
                stream.yield(.value(try value(of: Loaded(update.entry, isStored: update.isKept))))
            } catch {
                stream.yield(.failed(.undecodable(error)))
            }
        }
        stream.finish()
    }

    /// Sends the copy and the origin's answer.
    ///
    /// - Returns: the payload that was sent last.
    private func begin(
        _ request: Request, first: Locked<LoaderGraph?>,
        stream: AsyncThrowingStream<Update<Value>, any Error>.Continuation
    ) async throws -> Payload? {
        guard let graph = first.withLock({ $0.take() }) else { return nil }
        var last: Payload?
        var quick = request
        quick.mode = .cachedOnly
        if request.mode == .cachedOnly {
            let copy = try await loaded(request, from: graph.root, in: graph)
            stream.yield(.value(try value(of: copy)))
            return copy.value.payload
        }
        if request.mode == .normal, let copy = try? await loaded(quick, from: graph.root, in: graph) {
            last = copy.value.payload
            stream.yield(.value(try value(of: copy)))
        }
        if graph.policy.origin == nil, last != nil { return last }
        return try await ask(request, shown: last, graph: graph, stream: stream)
    }

    /// Sends the origin's answer. `shown` is the payload that was sent before, if there was one.
    ///
    /// - Returns: the payload that was sent last.
    private func ask(
        _ request: Request, shown: Payload?, graph: LoaderGraph,
        stream: AsyncThrowingStream<Update<Value>, any Error>.Continuation
    ) async throws -> Payload? {
        var eager = request
        eager.mode = .refresh
        do {
            let answer = try await loaded(
                eager, from: shown == nil || request.purpose == .prefetch ? graph.root : graph.live, in: graph)
            let isUnchanged = answer.source == .revalidated && answer.value.payload === shown
            let value = try value(of: answer)
            stream.yield(isUnchanged ? .unchanged(value) : .value(value))
            return answer.value.payload
        } catch {
            guard shown != nil, let failure = LoadError.meaning(of: error) else { throw error }
            stream.yield(.failed(failure))
            return shown
        }
    }

    private func loaded(
        _ request: Request, from loader: any Loader, in graph: LoaderGraph
    ) async throws -> Loaded<Entry> {
        try await loader.load(graph.call(for: request, codec: codec))
    }
}
