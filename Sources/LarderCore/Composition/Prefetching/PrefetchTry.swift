import LarderSystem

extension PrefetchOrder.Item {
    /// The end of one try.
    enum TryEnding {
        case ended(PrefetchQueue.Ending)
        /// The origin failed, which may pass.
        case again(LoadError)
        /// The task was cancelled.
        case cancelled
    }

    /// Tells all groups how the request has ended.
    func end(_ ending: PrefetchQueue.Ending) { for group in groups { group.observer(identity.request, ending) } }

    /// Fetches the instance, unless its copy is fresh.
    func run() async -> TryEnding {
        let group = groups.first { $0.condition.keepsScope } ?? groups.first
        guard let source = group?.source else { return .cancelled }
        if let graph = source.state.graph, await graph.isFresh(identity.request, source.codec) {
            return .ended(.done(bytes: 0))
        }
        var request = identity.request
        request.priority = priority
        do {
            let loaded = try await source.load(request)
            if Task.isCancelled { return .cancelled }
            switch loaded.source {
            case .origin where loaded.isStored: return .ended(.done(bytes: loaded.value.payload.size))
            case .revalidated where loaded.isStored: return .ended(.done(bytes: 0))
            case .origin, .revalidated: return .ended(.failed(.prefetchNotKept))
            default: return .again(.prefetchFellBack)
            }
        } catch {
            guard let failure = LoadError.meaning(of: error), !Task.isCancelled else { return .cancelled }
            return failure.mayPass ? .again(failure) : .ended(.failed(failure))
        }
    }
}

extension LoaderGraph {
    /// Returns whether instances may be prefetched in the present network: not while the device is known to have none, nor
    /// where the policy forbids it. An origin on the device needs no network.
    func mayPrefetch(when condition: PrefetchQueue.Condition, on device: PrefetchQueue.Device) -> Bool {
        if policy.origin?.traits.worksOffline ?? true { return true }
        return device.network.reach != .offline && background.permit(.prefetch) && condition.isMet(by: device)
    }

    /// Returns whether there is a fresh copy for a request.
    fileprivate func isFresh(_ request: Request, _ codec: AnyCodec) async -> Bool {
        let copy = try? await lookup.copy(for: call(for: request, codec: codec))
        return copy.map { $0.isKept && $0.permissions.allows(.fresh) } ?? false
    }
}

extension LoadError {
    fileprivate static var prefetchNotKept: LoadError { LoadError(.failed, "the answer was not kept") }

    fileprivate static var prefetchFellBack: LoadError {
        LoadError(.failed, "the origin failed, so the copy was not renewed")
    }

    /// Whether another try may succeed.
    fileprivate var mayPass: Bool { [.failed, .timeout, .unavailable, .deadline].contains(code) }
}
