#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

extension ConformRow {
    /// In what the playing of a row differs from what the row expects; nothing if it does not.
    func differences(in played: Played) -> [String] {
        var found: [String] = []
        for (place, step) in steps.enumerated() {
            var seen: Set<String> = []
            for (caller, sight) in played.sights[place].enumerated() {
                let who = "step \(place + 1)" + (step.count > 1 ? " caller \(caller + 1)" : "")
                for difference in step.expected.differences(in: sight) where seen.insert(difference).inserted {
                    found.append("\(who): \(difference)")
                }
            }
            let done = step.expected.doneAt ?? played.sights[place].compactMap { $0?.at }.max()
            if let done, let wanted = step.expected.originCalls {
                let started = played.calls.filter { $0.start <= done }.count
                if started != wanted { found.append("step \(place + 1): \(started) origin calls, not \(wanted)") }
            }
        }
        return found + callDifferences(played) + end.differences(in: played, self)
    }

    private func callDifferences(_ played: Played) -> [String] {
        var found: [String] = []
        for (place, (call, answer)) in zip(played.calls, answers).enumerated() {
            for (name, wanted) in answer.requires.sorted(by: { $0.key < $1.key }) {
                let carried = name == "if_none_match" ? call.etag : call.lastModified
                if carried != wanted {
                    found.append("origin call \(place + 1): \(name) \(carried.shown), not \(wanted.shown)")
                }
            }
        }
        if played.calls.count > answers.count {
            found.append("\(counted(played.calls.count, "origin call")), with answers for \(answers.count)")
        }
        return found
    }
}

extension ConformRow.Expectation {
    fileprivate func differences(in sight: Played.Sight?) -> [String] {
        guard let sight else { return isEmpty ? [] : ["no answer" + (doneAt.map { " by \($0.brief)" } ?? "")] }
        var found: [String] = []
        switch sight.result {
        case .success(let loaded):
            let text = String(decoding: loaded.value, as: UTF8.self)
            if let error {
                found.append("value \(text.quoted), not error \(error.quoted)")
            } else if let value, value != text {
                found.append("value \(text.quoted), not \(value.quoted)")
            }
            if let freshness, freshness != loaded.freshness {
                found.append("\(loaded.freshness.rawValue), not \(freshness.rawValue)")
            }
            if let from, from != loaded.source.neutral { found.append("from \(loaded.source.neutral), not \(from)") }
            if error == nil, let status, status != 200 { found.append("a value, not status \(status)") }
        case .failure(let failure):
            let names = failure.neutralNames
            if let error {
                if !names.contains(error) { found.append("error \(names[0].quoted), not \(error.quoted)") }
            } else if isValue || value != nil || freshness != nil || from != nil || status == 200 {
                found.append("error \(names[0].quoted), not \(value.map { "value \($0.quoted)" } ?? "a value")")
            }
            let given = (failure as? LoadError)?.status
            if let status, status != 200, given.map(Int64.init) != status {
                found.append("status \(given.map(String.init) ?? "none"), not \(status)")
            }
        }
        if let doneAt, doneAt != sight.at { found.append("done after \(sight.at.inMS), not \(doneAt.inMS)") }
        return found
    }
}

extension ConformRow.End {
    fileprivate func differences(in played: Played, _ scenario: ConformRow) -> [String] {
        var found: [String] = []
        let calls = played.calls.filter { call in at.map { call.start <= $0 } ?? true }.count
        if let originCalls, originCalls != calls { found.append("end: \(calls) origin calls, not \(originCalls)") }
        if let bodyWrites, bodyWrites != played.bodyWrites {
            found.append("end: \(played.bodyWrites) body writes, not \(bodyWrites)")
        }
        for (place, tier) in scenario.tiers.enumerated() {
            if let wanted = stored[tier.name] {
                let held = played.stored[place]
                for key in Set(wanted.keys).union(held.keys).sorted() where wanted[key] != held[key] {
                    let place = "\(tier.name.shown) holds \(held[key].shown) under \(key.quoted)"
                    found.append("end: \(place), not \(wanted[key].shown)")
                }
            }
            let faults = played.faults[ConformRow.pluginName(of: place)] ?? 0
            if let wanted = storeErrors[tier.name], faults != UInt64(wanted) {
                found.append("end: \(faults) errors of \(tier.name.shown), not \(wanted)")
            }
        }
        return found
    }
}

extension Source {
    /// What scenario files call it.
    fileprivate var neutral: String {
        switch self {
        case .origin: "origin"
        case .revalidated: "revalidated"
        case .store: "cache"
        case .fallback: "fallback"
        }
    }
}

extension Error {
    /// What scenario files may call it, the likeliest first.
    fileprivate var neutralNames: [String] {
        guard let error = self as? LoadError else { return self is CancellationError ? ["cancelled"] : ["unknown"] }
        return switch error.code {
        case .notCached: ["not-stored"]
        case .timeout, .deadline: ["timeout"]
        case .answer: ["answer"]
        default: ["no-response"] + ((error.origin as? OriginFailure).map { [$0.kind] } ?? [])
        }
    }
}

extension String? {
    fileprivate var shown: String { map(\.quoted) ?? "nothing" }
}

extension Duration {
    fileprivate var inMS: String {
        let text = "\(nanoseconds / 1_000_000)"
        return (nanoseconds % 1_000_000 == 0 ? text : "\(Double(nanoseconds) / 1e6)") + " ms"
    }
}
