/// Something new about one instance of a resource.
public enum Update<Value: Sendable>: Sendable {
    /// A value: what is kept, what the origin says, or what some other load has saved since.
    case value(Loaded<Value>)
    /// The origin says that what was shown last is still current.
    case unchanged(Loaded<Value>)
    /// The origin failed, or its answer is an error. What was shown last is all there is.
    case failed(LoadError)
}

extension Resource {
    /// What is kept now, then what the origin says, then whatever is saved by anyone, until nobody listens any more.
    ///
    /// An error ends the stream only when nothing was shown before it; then it is thrown. Where nothing is kept, the
    /// fallbacks of the policy may stand in.
    public func updates(
        _ parameters: [String: String] = [:], scope: String? = nil
    ) -> AsyncThrowingStream<Update<Value>, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(16)) { stream in
            let request = request(parameters, scope: scope)
            do {
                let graph = try graph()
                let saved = slot.observers.entries(for: request.key)
                let work = graph.world.spawn { await follow(request, saved, graph, stream) }
                stream.onTermination = { _ in work.cancel() }
            } catch {
                stream.finish(throwing: error)
            }
        }
    }

    private func follow(
        _ request: Request, _ saved: AsyncStream<Observers.Saved>, _ graph: LoaderGraph,
        _ stream: AsyncThrowingStream<Update<Value>, any Error>.Continuation
    ) async {
        var last: Payload?
        do {
            var quick = request
            quick.mode = .cachedOnly
            if let copy = try? await loaded(quick, from: graph.root, in: graph) {
                last = copy.value.payload
                stream.yield(.value(try value(of: copy)))
            }
            if graph.policy.origin != nil || last == nil {
                last = try await ask(request, last, graph, stream)
            }
        } catch {
            stream.finish(throwing: error)
            return
        }
        for await news in saved where news.entry.payload !== last {
            last = news.entry.payload
            do {
                stream.yield(.value(try value(of: Loaded(news.entry, isStored: news.isKept))))
            } catch {
                stream.yield(.failed(LoadError(.undecodable, "payload does not decode", origin: error)))
            }
        }
        stream.finish()
    }

    /// Says what the origin says, after something was shown or before.
    ///
    /// - Returns: what was shown last.
    private func ask(
        _ request: Request, _ shown: Payload?, _ graph: LoaderGraph,
        _ stream: AsyncThrowingStream<Update<Value>, any Error>.Continuation
    ) async throws -> Payload? {
        var eager = request
        eager.mode = .refresh
        do {
            let answer = try await loaded(eager, from: shown == nil ? graph.root : graph.live, in: graph)
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

    private func loaded(_ request: Request, from loader: any Loader, in graph: LoaderGraph) async throws -> Loaded<
        Entry
    > {
        var call = Call(request, codec: access.codec)
        call.ticket = graph.shelf.order.begin(request.key)
        return try await loader.load(call)
    }
}
