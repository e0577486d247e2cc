/// A resource whose instances are prefetched or kept, with the codec of those who want them.
protocol FetchedResource: AgendaResource {
    var name: String { get }
    /// An object that stands for the policy in effect; nil if there is none.
    var policyInEffect: AnyObject? { get }
    /// Returns whether the origin cannot be called for a scope, because another account is signed in, or none.
    func isSignedOut(_ scope: String?) -> Bool
    /// Returns whether there is a fresh copy for a request.
    func isFresh(_ request: Request) async -> Bool
    /// Loads an instance.
    ///
    /// - Parameter keepsScope: whether the scope is final, even if there is none and somebody is signed in.
    func load(_ request: Request, keepsScope: Bool) async throws -> Loaded<Entry>
    /// Pins the copy for a request. Returns false if there is none.
    func pin(_ request: Request) async throws -> Bool
    /// Removes the pin of the copy for a request.
    func unpin(_ request: Request) async throws
    /// Whether its store can pin copies. If the store cannot tell now, it may.
    var canPin: Bool { get async }
}

/// The account for which instances are kept. Equivalent names of Unicode are different accounts.
struct KeptAccount: Hashable, Sendable {
    let resource: String
    let scope: String?

    init(of request: Request) { (resource, scope) = (request.key.resource, request.key.scope) }

    static func == (left: KeptAccount, right: KeptAccount) -> Bool {
        left.resource == right.resource && left.scope.map { Array($0.utf8) } == right.scope.map { Array($0.utf8) }
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(resource)
        hasher.combine(scope.map { Array($0.utf8) })
    }
}

/// The end of a fetched request.
enum FetchEnding: Sendable {
    /// The instance is cached and fresh. These bytes were fetched for it.
    case done(bytes: Int)
    /// The request failed for good.
    case failed(LoadError)
    /// The request was cancelled, concerned by a clearing, or on the agenda of a pantry that was closed.
    case cancelled
}

/// The end of one try to fetch an instance.
enum FetchTry {
    case ended(FetchEnding)
    /// The origin failed, which may pass.
    case again(LoadError)
    /// The task was cancelled.
    case cancelled
}

extension FetchedResource {
    /// Fetches an instance, unless its copy is fresh.
    func fetch(_ request: Request, keepsScope: Bool) async -> FetchTry {
        if await isFresh(request) { return .ended(.done(bytes: 0)) }
        do {
            let loaded = try await load(request, keepsScope: keepsScope)
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

extension LoadError {
    fileprivate static var prefetchNotKept: LoadError { LoadError(.failed, "the answer was not kept") }

    fileprivate static var prefetchFellBack: LoadError {
        LoadError(.failed, "the origin failed, so the copy was not renewed")
    }

    /// Whether another try may succeed.
    fileprivate var mayPass: Bool { [.failed, .timeout, .unavailable, .deadline].contains(code) }
}
