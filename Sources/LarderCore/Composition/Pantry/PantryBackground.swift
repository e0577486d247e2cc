import LarderSystem

/// A resource of a pantry, for the work that nobody waits for. It does not keep the pantry alive.
struct BackgroundResource: FetchedResource {
    let state: ResourceState
    let codec: AnyCodec
    private let pantry: @Sendable () -> Pantry?

    init(_ state: ResourceState, codec: AnyCodec = .raw, in pantry: Pantry) {
        (self.state, self.codec) = (state, codec)
        self.pantry = { [weak pantry] in pantry }
    }

    var name: String { state.name }
    var policyInEffect: AnyObject? { state.graph }
    var worksOffline: Bool { state.graph?.policy.origin?.originTraits.worksOffline ?? true }
    var lacksAccount: Bool { state.graph?.lacksAccount ?? false }
    var canPin: Bool { get async { await state.graph?.canPin ?? false } }

    func permits(_ work: BackgroundWork) -> Bool { state.permits(work) }

    func isInEffect(_ section: ReloadState) -> Bool {
        state.graph?.attachments.contains { $0.state === section } ?? false
    }

    func isSignedOut(_ scope: String?) -> Bool { state.graph?.isSignedOut(scope) ?? false }

    func isFresh(_ request: Request) async -> Bool {
        guard let graph = state.graph else { return false }
        let copy = try? await graph.lookup.copy(for: graph.call(for: request, codec: codec))
        return copy.map { $0.isKept && $0.permissions.allows(.fresh) } ?? false
    }

    func load(_ request: Request, keepsScope: Bool) async throws -> Loaded<Entry> {
        guard let pantry = pantry() else { throw CancellationError() }
        if keepsScope { return try await state.loadInItsScope(request, codec: codec, in: pantry) }
        return try await state.load(request, codec: codec, in: pantry)
    }

    func pin(_ request: Request) async throws -> Bool {
        guard let graph = state.graph else { return false }
        return try await graph.storeAccess.pin(graph.prepared(request))
    }

    func unpin(_ request: Request) async throws {
        if let graph = state.graph { try await graph.storeAccess.unpin(graph.prepared(request)) }
    }
}

/// The sections of `_larder.json`, which belong to no resource.
private struct OwnSections: AgendaResource {
    let attachments: PantryAttachments

    var worksOffline: Bool { true }
    var lacksAccount: Bool { false }
    func permits(_ work: BackgroundWork) -> Bool { true }
    func isInEffect(_ section: ReloadState) -> Bool { attachments.all.contains { $0.state === section } }
}

extension Pantry: AgendaOwner {
    func agendaResource(_ name: String) -> any AgendaResource {
        if name.isEmpty { return OwnSections(attachments: attachments.withLock { $0 }) }
        return BackgroundResource(resourceState(name), in: self)
    }

    /// Begins what waits and is permitted by the policies that are in effect now, and goes on with the downloads.
    func resumeBackgroundWork() {
        agenda.deviceChanged()
        guard composer.pantry.allowsBackgroundWork else { return }
        keptInstances.resume { [weak self] name in
            self.flatMap { pantry in
                pantry.graph(of: name).map { _ in BackgroundResource(pantry.resourceState(name), in: pantry) }
            }
        }
    }
}

extension ResourceState: RefreshedResource {
    /// Returns whether the policy permits some background work on the present network.
    func permits(_ work: BackgroundWork) -> Bool { graph?.background.permit(work) ?? true }

    /// Makes a refresh that has waited, by the policy that is in effect now.
    func refresh(_ call: Call, within limit: Duration) async { await graph?.refreshNow(call, limit) }

    /// Puts refreshes on the agenda when they begin to wait.
    func postponeRefreshes(on agenda: Agenda) {
        let job = PostponedRefreshJob(of: self, in: agenda.world)
        keys.whenPostponed.withLock { $0 = { [weak agenda] in agenda?.add(job) } }
    }
}
