/// How the policies in effect relate to those in the folder.
struct WatchState {
    /// The last refusal; nil if nothing was since.
    var refusal: PolicyError?
    /// Whether policies are in effect that the folder does not hold.
    var isStoodIn = false
    /// Whether the set in effect is the one that is kept for the next run.
    var isKept = false
    var isLost = false
    var doubtEnds: Duration?
}

extension Pantry {
    /// The same for a watch, which gives missing files a second to come back.
    ///
    /// - Returns: when to look again, if files are missing.
    func follow(_ change: FolderChange) async -> Duration? {
        let (wasLost, start) = (watched.withLock { $0.isLost }, world.uptime)
        do {
            let changes = try await world.blocking { [self] in try swap(change, patientAt: world.uptime) }
            await finishClearings()
            accepted(changes)
        } catch let error as PolicyError {
            // That the folder is gone is told once.
            if !wasLost || !watched.withLock({ $0.isLost }) { refused(error) }
        } catch {}
        // Files that have been missing for long enough by now were looked at.
        return watched.withLock { $0.doubtEnds }.flatMap { $0 > start ? $0 : nil }
    }

    func accepted(_ changes: [PolicyChange]) {
        let wasRefused = watched.withLock { state in
            defer { (state.refusal, state.isStoodIn) = (nil, false) }
            return state.refusal != nil
        }
        if wasRefused || !changes.isEmpty { tell(.reloaded(changes)) }
    }

    func refused(_ error: PolicyError) {
        watched.withLock { $0.refusal = error }
        tell(.rejected(error))
    }

    /// Puts the last sound policies in place of those that are not. Blocks.
    ///
    /// - Returns: whether there are any.
    func standIn() -> Bool {
        policies.withLock { folder in
            guard let texts = kept.read() else { return false }
            let reader = folder.reader.reading(texts)
            guard let policies = try? reader.readAll(), let settings = try? reader.process(),
                (try? install(PolicyFolder.News(policies: policies, gone: []), settings)) != nil
            else { return false }
            folder.standsIn(policies.map(\.resource))
            watched.withLock { $0.isStoodIn = true }
            return true
        }
    }

    func keep(_ texts: [String: [UInt8]]) {
        do {
            try kept.write(texts)
            watched.withLock { $0.isKept = true }
            problems.end("policies", of: nil)
        } catch {
            watched.withLock { $0.isKept = false }
            problems.begin(CacheProblem(resource: nil, part: "policies", reason: error.description))
        }
    }
}
