import Larder

/// Finds what stands out in a resource's figures, and says it in sentences that need no figures beside them.
struct Findings {
    let sentences: [String]

    /// The number of refreshes from which their failures are told, and the share of them that has to fail.
    private static let fewestRefreshes: UInt64 = 50
    private static let noticed = 0.10

    init(_ section: Report.Section) {
        let total = section.total
        let synced = SyncFigures(section)?.sentences ?? []
        guard total.loads > 0 else {
            sentences = (synced.isEmpty ? [total.reasonWithoutLoads] : synced) + Self.store(total)
            return
        }
        let changes = section.comparisons.filter(\.isNext).map(RevisionFinding.init)
        var sentences = changes.filter(\.isWorse).compactMap(\.sentence)
        sentences += section.incidents.map(\.sentence)
        let refused = total[.staleErrors]
        let told = section.incidents.reduce(UInt64(0)) { $0.plus($1.refusedTold) }
        if refused > told {
            sentences.append(
                "\(counted(Int(clamping: refused), one: "load"))\(told > 0 ? " in all" : "") failed \(refused.refusal)")
        }
        let others = [
            (Counter.notSignedIn, "ended because nobody was signed in"),
            (.invalidRequests, "lacked a parameter or had a wrong one, which is a mistake of the app"),
        ]
        for (counter, end) in others where total[counter] > 0 {
            sentences.append("\(counted(Int(clamping: total[counter]), one: "load")) \(end)")
        }
        if total[.refreshes] >= Self.fewestRefreshes, total[.revalidationErrorRate] >= Self.noticed {
            sentences.append("\(total[.revalidationErrorRate].percent) of background refreshes failed")
        }
        if let offline = OfflineFigures(total) { sentences.append(offline.sentence) }
        if let waste = PrefetchFigures(total)?.sentence { sentences.append(waste) }
        if let told = ScheduleFigures(total)?.sentence { sentences.append(told) }
        sentences += synced
        sentences += Self.masking(total)
        sentences += [section.trend?.sentence].compactMap { $0 }
        sentences += changes.filter { !$0.isWorse }.compactMap(\.sentence)
        sentences += Self.store(total)
        self.sentences = sentences.isEmpty ? ["nothing stands out"] : sentences
    }

    private static func masking(_ total: ResourceMetrics) -> [String] {
        guard let origin = total.originAnswerLatency.percentile(0.95), let load = total.load(percentile: 0.95),
            load * 2 <= origin
        else { return [] }
        return [
            "users waited less than the origin took: load p95 \(Optional(load).waited), \(total.answeredP95Name) "
                + Optional(origin).waited
        ]
    }

    private static func store(_ total: ResourceMetrics) -> [String] {
        var sentences: [String] = []
        for (fault, count) in total.faults.sorted(by: { $0.key < $1.key }) where count > 0 {
            sentences.append(
                "store '\(fault.tier.printable)' failed to \(fault.kind.rawValue) \(count) \(count == 1 ? "time" : "times")"
            )
        }
        if total[.corrupt] > 0 {
            sentences.append("\(total[.corrupt]) damaged \(total[.corrupt] == 1 ? "copy was" : "copies were") removed")
        }
        return sentences
    }
}

extension UInt64 {
    /// The reason why this number of loads failed although there were copies.
    var refusal: String { "because the policy no longer allowed \(self == 1 ? "its copy" : "their copies")" }
}

extension ResourceMetrics {
    /// The name of the p95 of the calls that the origin answered: the origin p95 itself, if no call failed.
    var answeredP95Name: String {
        originFailureLatency.count == 0 ? "origin p95" : "origin p95 of answered calls"
    }

    /// The reason why there is nothing to say about loads, in words.
    package var reasonWithoutLoads: String {
        let prefetched = self[.prefetched]
        if prefetched == 0 { return "no loads were counted" }
        return "\(counted(Int(clamping: prefetched), one: "copy", many: "copies")) \(prefetched == 1 ? "was" : "were") "
            + "prefetched, and nobody has loaded one yet"
    }
}
