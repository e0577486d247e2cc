import LarderFoundation
import Larder

/// The stores of an app's policies, opened by this process beside the app.
struct OpenStores {
    let call: StoreCall
    let terminal: Terminal
    let pantry: Pantry

    /// Opens the stores. Never asks an origin, and leaves the dumps and unused files of the app alone.
    ///
    /// - Throws: ``PolicyError`` if a policy is not sound or a store cannot be opened. ``CommandFailure`` if there
    ///   is no such resource, or nothing that outlives a process.
    init(_ call: StoreCall, registry: Registry, terminal: Terminal) async throws {
        (self.call, self.terminal) = (call, terminal)
        var reader = call.arguments.reader(registry, call.policies.shortPath).withoutProcess
        if let name = call.resource { reader = reader.needing(name) }
        let (policies, problems) = try reader.readSound()
        for problem in problems { terminal.note(problem.description) }
        let named = try call.resource.map { try policies.named($0) }
        guard Pantry.isCacheFolder(call.cache.path) else {
            if let named, named.store?.isPersistent != true { throw Self.nothingPersistent(named) }
            let isDefault = call.arguments.value(of: "cache") == nil
            throw CommandFailure(
                "\(call.cache.shortPath): this is no cache folder: no store has kept anything in it"
                    + (isDefault ? "; this is the folder of 'larder load'; name an app's folder with --cache" : ""))
        }
        pantry = try await Pantry(
            reader: reader, cache: call.cache, ifCacheUnusable: .fail, world: SystemWorld(),
            substitute: { _ in UnusedSide() }, removesUnused: false, ignoresSources: true, allowsBackgroundWork: false)
        if let named, !isPersistent(named) {
            await pantry.close()
            throw Self.nothingPersistent(named)
        }
        for problem in pantry.cacheProblems { terminal.note(problem.description) }
    }

    private static func nothingPersistent(_ policy: Policy) -> CommandFailure {
        let reason = policy.store.map { "its store '\($0.storeNames)' is in memory only" } ?? "its policy has no store"
        return CommandFailure("\(policy.resource): there is nothing persistent, because \(reason)")
    }

    /// Whether the store of a policy keeps entries when a process ends.
    func isPersistent(_ policy: Policy) -> Bool {
        policy.store?.isPersistent == true || pantry.resource(policy.resource).hasPlaces
    }

    func close() async { await pantry.close() }

    /// Returns the error of a store with the name and the folders of its resource. Returns any other error as it is.
    func explained(_ error: any Error, of name: String) -> any Error {
        guard let failure = error as? StoreError, !failure.isUnsupported else { return error }
        return CommandFailure("\(name): \(failure)\(pantry.resource(name).folders(in: call.cache))")
    }

    /// Runs the subcommand. Returns false if it ran and failed.
    func run() async throws -> Bool {
        guard let name = call.resource else { return try await showStatistics(of: pantry.resources) }
        let resource = pantry.resource(name)
        switch call.subcommand {
        case .ls: return try await list(resource)
        case .get: return try await show(resource)
        case .rm, .expire, .pin, .unpin, .clear: return try await change(resource)
        case .verify: return try await verify(resource)
        case .stats: return try await showStatistics(of: [name])
        }
    }
}
