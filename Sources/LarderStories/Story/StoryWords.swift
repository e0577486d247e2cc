import Larder
import LarderSimulation

extension Story {
    /// The number of facts that differ from the usual story.
    package var unusual: Int {
        var count = origin == [OriginAct(.value)] ? 0 : 2 * origin.count - 1
        if let copy { count += 1 + (copy.tier == nil ? 0 : 1) + (copy.spread == 0 ? 0 : 1) }
        count += Set(earlier.map(\.isOther)).count + min(earlier.count, 3)
        count += (lifetime == nil ? 0 : 1) + (network == .unknown ? 0 : 1) + (isNetworkCostly ? 1 : 0)
        count += Set(stores.map(\.fault)).count + Set(stores.map(\.tier)).count
        count += [load.isRestarted, load.clockBack > .zero, load.deadline != nil, chance != 0.5].count { $0 }
        // Few callers ask for a mode of their own.
        count += load.mode == .normal ? 0 : 2
        return count
    }

    /// The sum of the times in the story.
    var size: Duration {
        let times = origin.map(\.after) + [copy?.age ?? .zero, load.deadline ?? .zero, load.clockBack, lead]
        return times.reduce(.zero, +)
    }

    /// The story in plain words: "the origin fails while the copy is 6h 4m 59.999s old".
    package var inWords: String {
        var text = "\(origin.inWords) while " + copyInWords
        for fact in facts { text += ", " + fact }
        return text
    }

    private var copyInWords: String {
        if isOfflineHistory {
            return "the last answer is \(lead.inWords) old"
                + (copy == nil ? "" : ", which said that an older copy is unchanged")
        }
        guard let copy else { return "there is no copy" }
        var text = "the copy is \(copy.age.inWords) old"
        if let tier = copy.tier { text += " and lies in tier \(tier)" }
        if let above = copy.ageAbove { text += ", below one that is \(above.inWords) old" }
        if copy.spread > 0 { text += ", with the largest jitter" }
        return text
    }

    private var facts: [String] {
        var facts = lifetime.map { ["the origin states a lifetime of \($0.inWords)"] } ?? []
        switch network {
        case .unknown: break
        case .offline: facts.append("the device knows that it has no network")
        case .online: facts.append("the device knows that it has a network" + (isNetworkCostly ? ", which costs" : ""))
        }
        facts += stores.inWords
        if !isOfflineHistory { facts += earlierInWords }
        if load.isRestarted { facts.append("the app was started anew") }
        if load.clockBack > .zero { facts.append("the clock was set back by \(load.clockBack.inWords)") }
        switch load.mode {
        case .normal: break
        case .refresh: facts.append("the request asks for a refresh")
        case .cachedOnly: facts.append("the request asks only for a copy")
        }
        if let deadline = load.deadline { facts.append("the caller waits \(deadline.inWords) at most") }
        if let time = load.cancelledAfter { facts.append("the caller is cancelled after \(time.inWords)") }
        facts += clearings.map { "all copies are cleared after \($0.inWords)" }
        if chance == 1 { facts.append("every random number is the largest") }
        if chance == 0 { facts.append("every random number is the smallest") }
        return facts
    }

    private var earlierInWords: [String] {
        guard let last = earlier.last else { return [] }
        let hangs = earlierOrigin.contains { $0.ending == .hangs || $0.after >= last.before }
        let whose = last.isOther ? " of another instance" : ""
        // It may still be reading a slow store, so that nothing is known of its end.
        if stores.slowReads >= last.before { return ["a load\(whose) began \(last.before.inWords) earlier"] }
        if hangs { return ["a call\(whose) that began \(last.before.inWords) earlier is under way"] }
        let times = "\(last.before.inWords) earlier"
        if earlierOrigin.first?.ending == .value {
            return ["a load that began \(times) was answered"]
        }
        if case .status(let status, _) = earlierOrigin.first?.ending, LoadError.status(status).isAnswer {
            return ["a load\(whose) that began \(times) was answered with the error \(status)"]
        }
        return [
            earlier.count == 1
                ? "a load\(whose) failed that began \(times)"
                : "\(earlier.count) loads\(whose) failed, the last of which began \(times)"
        ]
    }
}

extension [Story.OriginAct] {
    fileprivate var inWords: String {
        guard let first else { return "the origin cannot be reached" }
        let words = map { act in
            guard let calls = act.calls, calls > 1, count > 1 else { return act.inWords }
            return act.inWords + " \(calls) times"
        }
        return "the origin " + (count == 1 ? first.inWords : words.joined(separator: ", then "))
    }
}

extension Story.OriginAct {
    fileprivate var inWords: String {
        let time = after == .zero ? "" : " after \(after.inWords)"
        switch ending {
        case .value: return "answers" + (after == .zero ? " at once" : time)
        case .sends(let value, _, _): return "sends \(value.text(indented: false))" + time
        case .unchanged: return "says\(time) that the copy is unchanged"
        case .status(let status, let pause) where !LoadError.status(status).isAnswer:
            return "fails" + time + (pause.map { " and asks for a pause of \($0.inWords)" } ?? "")
        case .status(let status, retryAfter: _): return "answers with the error \(status)" + time
        case .unreachable: return "cannot be reached" + (after == .zero ? "" : ", which takes \(after.inWords)")
        case .hangs: return "does not answer" + (ignoresCancellation ? ", even if it is cancelled" : "")
        case .throwsError(let message): return "throws the error '\(message)'" + time
        }
    }
}

extension [Story.StoreFault] {
    fileprivate var inWords: [String] {
        var facts: [String] = []
        for fault in self where !facts.contains(fault.inWords(isWhole: isWhole(fault))) {
            facts.append(fault.inWords(isWhole: isWhole(fault)))
        }
        return facts
    }

    /// How long it takes to read all slow tiers.
    fileprivate var slowReads: Duration {
        reduce(.zero) { sum, fault in
            if fault.operations == .reads, case .takes(let time) = fault.fault { sum + time } else { sum }
        }
    }

    private func isWhole(_ fault: Story.StoreFault) -> Bool {
        count { $0.fault == fault.fault && $0.tier == fault.tier } == Story.StoreFault.Operations.allCases.count
    }
}

extension Story.StoreFault {
    fileprivate func inWords(isWhole: Bool) -> String {
        let what = isWhole ? "" : operations == .reads ? " when it is read" : " when it is changed"
        let name = tier.map { "tier \($0) of the store" } ?? "the store"
        switch fault {
        case .fails, .failsAfter: return "\(name) fails\(what)"
        case .takes(let time): return "\(name) takes \(time.inWords)\(what)"
        case .hangs: return "\(name) hangs\(what)"
        case .corrupts: return "\(name) is damaged"
        }
    }
}
