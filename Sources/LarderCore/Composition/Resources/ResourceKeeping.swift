// Keeping instances on the device, for times without a network.

public import LarderSystem

extension Resource {
    /// Keeps instances on the device until they are given back: fetches those that are missing, and pins all of them.
    ///
    /// ```swift
    /// let download = try await articles.keep(chosen.map { ["id": $0] })
    /// for await progress in download.progress { bar.value = progress.share }
    /// ```
    ///
    /// Returns when the list of what is kept is safe on the disk. The list survives the end of the process: the next
    /// pantry fetches what is missing then, and nothing that is stored. So does a reload that replaces the store. It is in the data folder, so a system that deletes
    /// the cache folder does not delete it, and the instances are fetched again.
    ///
    /// Copies that are kept are neither evicted nor forgotten for their age, and count in the store's capacity. They can be
    /// changed and refused like others: loads renew them, and the validators decide how old a copy may be shown.
    ///
    /// The instances are fetched like those of ``prefetch(_:priority:when:orWhileCharging:)-([Request],_,_,_)``, and the
    /// handle tells as much. An instance is done when its copy is pinned. It has failed if it cannot be fetched and has no
    /// copy, or if the store has no room or cannot pin copies. What has failed or was cancelled stays on the list, and is tried again when the
    /// next pantry is made.
    ///
    /// While the account of a request is not signed in, the request waits. Whether it is signed in is looked at about once
    /// a minute.
    ///
    /// A clearing by key, by account or of everything takes what it selects off the list, so that nothing of an account
    /// comes back after its logout.
    ///
    /// - Parameters:
    ///   - requests: the instances. Fields with credentials are used now and not written to the list.
    ///   - priority: the priority of the calls.
    ///   - condition: the network to wait for. After a restart, any network will do.
    ///   - isAllowedWhileCharging: whether to go on with any network while the device is being charged.
    /// - Returns: the handle with the progress. Cancelling it leaves the list as it is.
    /// - Throws: ``LoadError`` if a request is for another resource, or if there is no such resource. An error with the
    ///   code ``LoadError/Code/notSignedIn`` if a request has no scope, the origin calls only in the name of an account, and
    ///   nobody is signed in. An error if the store cannot pin copies, or if the list cannot be written.
    @discardableResult
    public func keep(
        _ requests: [Request], priority: Request.Priority = .low, when condition: NetworkCondition = .online,
        orWhileCharging isAllowedWhileCharging: Bool = false
    ) async throws -> Prefetch {
        let requests = try owned(requests)
        if requests.contains(where: { $0.key.scope == nil }), try lacksAccount { throw LoadError.nobodyToKeepFor }
        if try await !graph().canPin { throw LoadError.cannotPin }
        let prefetch = Prefetch(total: requests.count)
        let jobs = try await pantry.keptInstances.keep(
            requests, of: BackgroundResource(resourceState, codec: codec, in: pantry), priority: priority,
            when: AgendaConditions(
                network: condition, orWhileCharging: isAllowedWhileCharging, permitted: [.prefetch])
        ) { prefetch.ended($0, $1) }
        prefetch.onCancel(pantry.agenda.cancelling(jobs))
        return prefetch
    }

    /// Keeps instances on the device until they are given back: see
    /// ``keep(_:priority:when:orWhileCharging:)-([Request],_,_,_)``.
    ///
    /// - Parameters:
    ///   - parameters: the parameters of each instance.
    ///   - scope: the account that the instances belong to, as for a load.
    ///   - priority: the priority of the calls.
    ///   - condition: the network to wait for.
    ///   - isAllowedWhileCharging: whether to go on with any network while the device is being charged.
    @discardableResult
    public func keep(
        _ parameters: [Parameters], scope: String? = nil, priority: Request.Priority = .low,
        when condition: NetworkCondition = .online, orWhileCharging isAllowedWhileCharging: Bool = false
    ) async throws -> Prefetch {
        try await keep(
            parameters.map { request($0, scope: scope) }, priority: priority, when: condition,
            orWhileCharging: isAllowedWhileCharging)
    }

    /// Gives instances back that were kept: takes them off the list, stops to fetch them, and removes their pins. Their
    /// copies stay until the store needs the room. Does nothing for other instances.
    ///
    /// - Throws: an error if the list cannot be written; the error of the store.
    public func unkeep(_ requests: [Request]) async throws {
        try await pantry.keptInstances.unkeep(owned(requests), of: BackgroundResource(resourceState, in: pantry))
    }

    /// Gives instances back that were kept: see ``unkeep(_:)``.
    public func unkeep(_ parameters: [Parameters], scope: String? = nil) async throws {
        try await unkeep(parameters.map { request($0, scope: scope) })
    }

    /// Returns what is kept, in the order in which it was asked for, with the sizes of the copies.
    ///
    /// - Throws: an error if the list cannot be read; the error of the store.
    public func kept() async throws -> [KeptInstance] {
        let list = pantry.keptInstances.list
        return try await copies(of: pantry.world.blocking { [name] in try list.requests(of: name) })
    }

    /// Returns instances with the sizes of the copies that are stored, whether they are kept or not. An app asks before it
    /// keeps them how much is there already.
    ///
    /// - Throws: ``LoadError`` if a request is for another resource; the error of the store.
    public func copies(of requests: [Request]) async throws -> [KeptInstance] {
        let graph = try graph()
        var copies: [KeptInstance] = []
        for request in try owned(requests) {
            copies.append(
                KeptInstance(request: request, size: try await graph.storeAccess.size(graph.prepared(request))))
        }
        return copies
    }

    private func owned(_ requests: [Request]) throws -> [Request] {
        _ = try graph()
        return try requests.map { request in
            guard request.key.isOf(resourceState.resourceName) else { throw LoadError.otherResource }
            return resourceState.owned(request)
        }
    }
}

/// An instance and the copy of it on the device.
public struct KeptInstance: Sendable {
    /// The request for the instance.
    public let request: Request
    /// The size of the copy's payload in bytes; nil if there is no copy.
    public let size: Int?
}

extension LoadError {
    fileprivate static var cannotPin: LoadError {
        LoadError(.failed, "the store cannot pin copies, so nothing stays on the device")
    }

    fileprivate static var nobodyToKeepFor: LoadError {
        LoadError(.notSignedIn, "nobody is signed in, so it is not known for whom to keep the instances")
    }
}

extension LoaderGraph {
    /// Whether its store can pin copies. If the store cannot tell now, it may.
    var canPin: Bool {
        get async {
            guard let store = policy.store, !store.storeTraits.keepsNothing else { return false }
            do {
                // A copy that nobody has: loads have no empty names of parameters.
                _ = try await storeAccess.store.setPinned(true, for: Request(policy.resource, ["": "pin"]).key)
                return true
            } catch {
                return (error as? StoreError)?.isUnsupported != true
            }
        }
    }
}

extension StoreAccess {
    /// Returns the size of the payload of the copy for a request; nil if there is none.
    fileprivate func size(_ request: Request) async throws -> Int? {
        guard try await contains(request) else { return nil }
        let found = try await store.read(variations.entryKey(of: request))
        meter.countOwnRead()
        return found?.entry.payload.size
    }
}
