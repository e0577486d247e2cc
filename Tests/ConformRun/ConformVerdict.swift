import LarderFoundation
import Larder
import LarderCommand

extension ConformRow {
    /// The differences between the result and the expectations of the row.
    func differences(in played: RowResult) -> [String] {
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
            let faults = played.faults.isEmpty ? [] : faultDifferences(played.faults[place], step.expected.storeErrors)
            found += step.expected.differences(in: played.outbox[place]).map { "step \(place + 1): \($0)" }
            found += faults.map { "step \(place + 1): \($0)" }
        }
        return found + callDifferences(played) + end.differences(in: played, self)
    }

    /// The differences between the failures of tiers, by their plugins' names, and those expected, by their own names.
    fileprivate func faultDifferences(_ faults: [String: UInt64], _ expected: [String: Int64]) -> [String] {
        tiers.enumerated().compactMap { place, tier in
            let faults = faults[Self.pluginName(of: place)] ?? 0
            guard let wanted = expected[tier.name], faults != UInt64(wanted) else { return nil }
            return "\(faults) errors of \(tier.name.shown), not \(wanted)"
        }
    }

    private func callDifferences(_ played: RowResult) -> [String] {
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
            found.append("\(counted(played.calls.count, one: "origin call")), with answers for \(answers.count)")
        }
        return found
    }
}

extension ConformRow.Expectation {
    fileprivate func differences(in sight: RowResult.CallerResult?) -> [String] {
        guard let sight else { return isEmpty ? [] : ["no answer" + (doneAt.map { " by \($0.brief)" } ?? "")] }
        var found: [String] = []
        switch sight.result {
        case .success(let loaded?): found = differences(in: loaded)
        case .success(nil): found = error.map { ["done, not error \($0.quoted)"] } ?? []
        case .failure(let failure): found = differences(in: failure)
        }
        if let doneAt, doneAt != sight.at { found.append("done after \(sight.at.inMS), not \(doneAt.inMS)") }
        return found
    }

    fileprivate func differences(in outcome: OutboxResult?) -> [String] {
        let outcome = outcome ?? OutboxResult()
        var found: [String] = []
        if let sent, sent != outcome.sent { found.append("sent \(outcome.sent.listed), not \(sent.listed)") }
        if let dropped, dropped != outcome.dropped {
            found.append("dropped \(outcome.dropped.listed), not \(dropped.listed)")
        }
        if let isPending, isPending != outcome.isPending {
            found.append("the value \(outcome.isPending ? "waits" : "was sent")")
        }
        return found
    }

    private func differences(in loaded: Loaded<Data>) -> [String] {
        let metadata = loaded.metadata ?? Metadata()
        let answer = Delivered(
            body: loaded.value, status: metadata.status ?? 200, freshness: loaded.freshness,
            from: loaded.source.neutral
        ) { metadata.text(of: $0) }
        guard let error else { return differences(in: answer) }
        return ["value \(answer.text.quoted), not error \(error.quoted)"] + differencesOfOrigin(in: answer)
    }

    private func differences(in failure: any Error) -> [String] {
        let names = failure.neutralNames
        let load = failure as? LoadError
        // An answer of the origin that is an error is handed through with its body.
        if error == nil, let load, let reply = load.reply, load.isAnswer || !isValue {
            return differences(
                in: Delivered(body: reply.body, status: load.status ?? 0, freshness: .fresh, from: "origin") {
                    reply.fields[$0]
                })
        }
        var found: [String] = []
        if let error {
            if !names.contains(error) { found.append("error \(names[0].quoted), not \(error.quoted)") }
        } else if isValue || value != nil || length != nil || freshness != nil || from != nil || !headers.isEmpty
            || status == 200
        {
            found.append("error \(names[0].quoted), not \(value.map { "value \($0.quoted)" } ?? "a value")")
        }
        if let status, status != 200, load?.status.map(Int64.init) != status {
            found.append("status \(load?.status.map(String.init) ?? "none"), not \(status)")
        }
        return found
    }

    private func differences(in answer: Delivered) -> [String] {
        var found: [String] = []
        if let value, value != answer.text { found.append("value \(answer.text.quoted), not \(value.quoted)") }
        found += differencesOfOrigin(in: answer)
        if let length, answer.body.count != Int(length) {
            found.append("\(counted(answer.body.count, one: "byte")), not \(length)")
        }
        if let status, answer.status != Int(status) { found.append("status \(answer.status), not \(status)") }
        for (name, wanted) in headers where answer.header(name) != wanted {
            found.append("header \(name.quoted) \(answer.header(name).shown), not \(wanted.shown)")
        }
        return found
    }

    private func differencesOfOrigin(in answer: Delivered) -> [String] {
        var found: [String] = []
        if let freshness, freshness != answer.freshness {
            found.append("\(answer.freshness.rawValue), not \(freshness.rawValue)")
        }
        if let from, from != answer.from { found.append("from \(answer.from), not \(from)") }
        return found
    }
}

/// An answer that reached a caller.
private struct Delivered {
    var body: Data
    var status: Int
    var freshness: Freshness
    var from: String
    /// Returns the value of a header.
    var header: (String) -> String?

    var text: String { String(decoding: body, as: UTF8.self) }
}

extension Metadata {
    /// Returns the value of a header. The facts that have a place of their own are headers too.
    fileprivate func text(of header: String) -> String? {
        if let text = fields[header] { return text }
        return switch header.lowercased() {
        case "etag": etag
        case "last-modified": lastModified
        case "content-type": contentType
        default: nil
        }
    }
}

extension ConformRow.End {
    fileprivate func differences(in played: RowResult, _ scenario: ConformRow) -> [String] {
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
        }
        for (queue, wanted) in queues.sorted(by: { $0.key < $1.key }) {
            let waiting = played.queues[queue] ?? []
            if waiting != wanted {
                found.append("end: \(waiting.listed) wait in \(queue.shown), not \(wanted.listed)")
            }
        }
        return found + scenario.faultDifferences(played.faultsAtEnd, storeErrors).map { "end: \($0)" }
    }
}

extension Source {
    /// The name in scenario files.
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
    /// The names in scenario files, the likeliest first.
    fileprivate var neutralNames: [String] {
        if self is CancellationError { return ["cancelled"] }
        if self is StoreError { return ["store"] }
        if self is ReplayFailed { return ["replay-failed"] }
        guard let error = self as? LoadError else { return ["unknown"] }
        return switch error.code {
        case .notCached: ["not-stored"] + (error.store == nil ? [] : ["store"])
        case .timeout, .deadline: ["timeout"]
        case .answer: ["answer"]
        default: ["no-response"] + ((error.origin as? OriginFailure).map { [$0.kind] } ?? [])
        }
    }
}

extension [String] {
    fileprivate var listed: String { isEmpty ? "nothing" : map(\.quoted).joined(separator: ", ") }
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
