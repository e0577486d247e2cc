import LarderSystem
import Synchronization

/// Judges the copies that a store has for a call, one in each tier.
final class CopyJudge: EntryJudge {
    /// A copy that was refused.
    struct Refused: Sendable {
        let tier: String
        let reason: Refusal
        /// Whether the copy is damaged. If not, it is sound but may not be kept.
        let isDamage: Bool
    }

    private let call: Call
    /// The reason why copies of the key are not shown as they are.
    private let outdated: HiddenCopy.Reason?
    private let validators: Validators
    private let world: any World
    /// The copies that were refused, once there was one.
    private let refused = AtomicLazyReference<Locked<[Refused]>>()

    init(for call: Call, outdated: HiddenCopy.Reason?, validators: Validators, in world: any World) {
        self.call = call
        self.outdated = outdated
        self.validators = validators
        self.world = world
    }

    /// The copies that were refused, from the uppermost tier down.
    var refusals: [Refused] { refused.load()?.withLock { $0 } ?? [] }

    func judge(_ found: inout Found, beside best: Found?) async throws -> Reading.Verdict {
        // The graph looks for the variant instead.
        if Variation(marker: found.entry) != nil { return best == nil ? .best : .passed }
        var (entry, isKept) = (found.entry, true)
        if case .outdated(let newest) = outdated, await newest.outdates(entry, in: world) {
            entry.metadata.isExpired = true
        }
        let rank = rank(of: entry)
        if let best = best?.judged, rank <= best.rank { return .passed }
        if found.isForeign {
            let isFirst = best == nil && refusals.isEmpty
            do {
                isKept = try await validators.admit(&entry, from: .store, for: call.request, in: world) == .keep
                if !isKept, !isFirst { return refuse(found, because: .mayNotBeKept, isDamage: false) }
            } catch {
                return refuse(found, because: error, isDamage: true)
            }
        }
        found.judged = JudgedCopy(entry, rank: rank, isKept: isKept)
        // The first search of a load has looked at the tiers below already.
        let endsHere = rank == .fresh || !isKept || call.hasLooked && rank != .expired
        return endsHere ? .best : .better
    }

    private func rank(of entry: Entry) -> JudgedCopy.Rank {
        if entry.metadata.isExpired { return .expired }
        return validators.permit(entry.metadata, for: call.request, at: world.now).allows(.fresh) ? .fresh : .stale
    }

    private func refuse(_ found: Found, because reason: Refusal, isDamage: Bool) -> Reading.Verdict {
        let refused = refused.load() ?? refused.storeIfNil(Locked([]))
        refused.withLock { $0.append(Refused(tier: found.tier, reason: reason, isDamage: isDamage)) }
        return .refused
    }
}
