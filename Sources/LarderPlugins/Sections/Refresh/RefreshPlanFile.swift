import LarderSystem
import LarderCore

/// The file in which the plan of a schedule survives restarts. Processes with the same cache folder share it.
///
/// A file that cannot be read, or that is not a plan, counts as missing. Its functions block.
struct RefreshPlanFile: Sendable {
    /// The result of ``claim(_:at:late:_:)``.
    enum Claim: Sendable {
        /// The run belongs to the caller. `next` is the plan after it, `missed` the number of runs that were missed before.
        case own(next: RefreshPlan, missed: UInt64)
        /// Another process has begun this run. It made this plan.
        case taken(RefreshPlan)
    }

    let place: StorePlace
    let times: RefreshTimes
    private var path: String { place.path + "/plan" }

    private static let format = "larder-refresh/1"

    /// Returns the saved plan as it holds now, or saves the plan of a new installation.
    func open(at now: Timestamp, _ chance: Double) -> RefreshPlan {
        locked {
            let saved = read()
            let plan = saved.map { times.restored($0, at: now, chance) } ?? times.first(at: now, chance)
            if plan != saved { write(plan) }
            return plan
        }
    }

    /// Claims the run of a plan for this process. Of several processes that claim the same run, one gets it.
    ///
    /// - Parameters:
    ///   - plan: the plan that this process knows.
    ///   - lateness: how late the run is by this plan.
    func claim(_ plan: RefreshPlan, at now: Timestamp, late lateness: Duration, _ chance: Double) -> Claim {
        locked {
            var lateness = lateness
            if let saved = read(), saved != plan, times.restored(saved, at: now, chance) == saved {
                guard saved.next <= now else { return .taken(saved) }
                lateness = now - saved.next
            }
            let next = times.plan(afterRunAt: now, late: lateness, chance)
            write(next)
            return .own(next: next, missed: times.missed(late: lateness))
        }
    }

    /// Runs `body` while no other process reads or changes the plan. Runs it all the same if the file cannot be locked.
    private func locked<Result>(_ body: () -> Result) -> Result {
        try? place.restore()
        var result: Result?
        try? Disk.locked(place.path + "/lock") { result = body() }
        return result ?? body()
    }

    private func read() -> RefreshPlan? {
        guard let bytes = try? Disk.read(path, limit: 256) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 3, words[0] == Self.format, let next = Int64(words[2]) else { return nil }
        let began = Int64(words[1])
        guard began != nil || words[1] == "never" else { return nil }
        return RefreshPlan(
            began: began.map(Timestamp.init(nanoseconds:)), next: Timestamp(nanoseconds: next))
    }

    private func write(_ plan: RefreshPlan) {
        let began = plan.began.map { "\($0.nanoseconds)" } ?? "never"
        let text = "\(Self.format) \(began) \(plan.next.nanoseconds)\n"
        // Without the file, a restart may refresh early. The schedule itself goes on.
        guard let draft = try? Disk.draft(path, with: [Array(text.utf8)]) else { return }
        do { try draft.putInPlace() } catch { draft.discard() }
    }
}
