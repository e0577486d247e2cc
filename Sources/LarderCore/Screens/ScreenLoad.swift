import LarderSystem

/// One load of a screen: the copy first, then the load as the policy says, then the call that goes on after it.
struct ScreenLoad<Value: Sendable>: Sendable {
    typealias Progress = ScreenState<Value>.Progress

    let resource: Resource<Value>
    let request: Request
    /// Whether nothing is shown, so that a copy that is found is better than nothing.
    let isBlank: Bool
    let report: @Sendable (Progress) async -> Void

    /// Loads, and reports each step. Exactly one step, the last one, ends the load.
    func run() async {
        do {
            if request.mode == .normal, let answer = resource.answer(request) { return try await end(answer) }
            await reportCopy()
            try await end(try await resource.load(request))
        } catch {
            await report(LoadError.meaning(of: error).map { .failed($0) } ?? .cancelled)
        }
    }

    private func reportCopy() async {
        guard isBlank else { return }
        var quick = request
        quick.mode = .cachedOnly
        if let copy = try? await resource.load(quick) { await report(.copy(copy)) }
    }

    /// Reports the result of the load, and follows a call that goes on: a refresh in the background, or one that took
    /// longer than the patience of the policy.
    private func end(_ loaded: Loaded<Value>) async throws {
        switch loaded.source {
        case .origin: return await report(.answered(loaded))
        case .revalidated: return await report(.unchanged(loaded))
        case .store, .fallback: break
        }
        if let call = try? resource.callUnderWay(for: request) {
            await report(.copy(loaded))
            let answer = try await call()
            return await report(answer.source == .revalidated ? .unchanged(answer) : .answered(answer))
        }
        await report(loaded.fellBack ? .stoodIn(loaded, loaded.failure) : .settled(loaded))
    }
}

extension Resource {
    /// The longest time for which a screen follows a call that it did not make.
    private var longestCall: Duration { .seconds(60) }

    /// Returns a function that returns the answer of the call under way for a request. Returns nil if there is no such
    /// call. The metrics count no load.
    fileprivate func callUnderWay(for request: Request) throws -> (() async throws -> Loaded<Value>)? {
        let graph = try graph()
        let request = resourceState.owned(request)
        guard let side = (graph.live as? MeasuredLoader)?.inner as? OriginSide else { return nil }
        var call = graph.call(for: request, codec: codec)
        call.deadline = call.deadline ?? graph.world.uptime + longestCall
        let storeAccess = graph.storeAccess
        let key = storeAccess.variations.entryKey(of: call.request)
        guard storeAccess.keys.isRefreshing(key) || side.isUnderWay(call) else {
            return nil
        }
        return { [call] in try value(of: try await side.load(call)) }
    }
}

extension Loaded {
    /// The failure because of which this copy or fallback was returned, as the trail has it.
    fileprivate var failure: LoadError {
        for step in trail.steps.reversed() {
            if let code = step.event[.code] {
                var error = LoadError(code, step.event, status: step.event[.status])
                error.cause = step.event[.cause]
                return error
            }
            switch step.event.kind {
            case .resting: return LoadError(.unavailable, step.event)
            case .noAnswer: return LoadError(.timeout, step.event)
            default: continue
            }
        }
        return LoadError(.unavailable, "the origin did not answer")
    }
}
