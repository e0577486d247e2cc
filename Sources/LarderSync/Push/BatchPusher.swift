import Larder
import LarderFoundation

extension Plugin {
    /// Sends many changes in one call.
    static let pushBatch = pusher(
        "batch", "Sends many changes in one call. If the service finds that too large, it sends half of them.",
        .group(BatchSettings()),
        facts: { settings in
            var facts = PushFacts(calls: [settings.parameters.keys.sorted()])
            facts.sendsVersions = settings.operation.contains(.version)
            facts.receivesRecords = settings.record != nil
            facts.contradictions = settings.contradictions
            return facts
        }
    ) { _, settings in BatchPusher(settings) }
}

/// The settings of the pusher `batch`.
struct BatchSettings {
    let most = Setting("most", .int(1...10_000), default: 400, help: "The most changes of a call")
    let method = Setting("method", .changingMethod, default: "POST", help: "The method of the call")
    let parameters = Setting(
        "parameters", .textMap, default: [:], help: "Parameters of the URL, such as the path of the batch")
    let body = Setting("body", .pushTemplate, help: "The body of a call, with \"{operations}\" for the list of changes")
    let operation = Setting("operation", .pushTemplate, help: "A change in that list, with \"{key}\" and \"{id}\"")
    let results = Setting("results", .answerPointer, help: "The place of the list of results in an answer")
    let status = Setting("status", .pointer, help: "The place of the status in a result, as a number such as 200")
    let record = Setting(
        "record", optional: .pointer, help: "The place of the record in a result, for a change that was accepted")
    let conflictRecord = Setting(
        "conflictRecord", optional: .pointer, help: "The place of the service's record in a result with 409 or 412")
    let match = Setting(
        "match", optional: .pointer,
        help:
            "The place of the change's key or of the record's id in a result; without it, results are in the order of "
            + "the changes")
}

extension SettingValues<BatchSettings> {
    fileprivate var contradictions: [Contradiction] {
        var found: [Contradiction] = []
        if !self.body.contains(.operations) {
            found.append(Contradiction("body", "no change is in the call", expected: "\"{operations}\""))
        }
        for (placeholder, loss) in [
            (PushTemplate.Placeholder.id, "the service cannot know which record is changed"),
            (.key, "the service cannot know whether it has seen a change"),
        ] where !self.operation.contains(placeholder) {
            found.append(Contradiction("operation", loss, expected: "\"{\(placeholder.rawValue)}\""))
        }
        return found
    }
}

/// Sends many changes in one call.
struct BatchPusher: Pusher {
    let most: Int
    let method: String
    private let parameters: [String: String]
    let (body, operation): (PushTemplate, PushTemplate)
    let (results, status): (JSONPointer, JSONPointer)
    let match: JSONPointer?
    let outcomes: PushOutcomes

    init(_ settings: SettingValues<BatchSettings>) {
        (most, method, parameters) = (settings.most, settings.method, settings.parameters)
        (body, operation) = (settings.body, settings.operation)
        (results, status, match) = (settings.results, settings.status, settings.match)
        // Without a place, no value is a record.
        outcomes = PushOutcomes(
            record: settings.record ?? JSONPointer(steps: [""]), conflictRecord: settings.conflictRecord)
    }

    func push(_ changes: [PushedChange], by call: PushCall) async throws -> [WriteOutcome] {
        let operations = JSONText(list: changes.map { change in operation.filled { change.value(of: $0) } })
        let text = body.filled { $0 == .operations ? operations : nil }
        let answer = try await call.send(
            Parameters(parameters), method: method, fields: ["Content-Type": "application/json"],
            body: Data(text.bytes))
        if answer.status == 413 { throw PushError.tooLarge }
        let outcomes = outcomes.with(call)
        let (json, isJSON) = answer.json
        guard let json, case .accepted = outcomes.statuses.meaning(of: answer.status ?? 200, for: .update) else {
            // The answer is about the call and not about the changes, so none was refused for what is in it.
            let status = answer.status ?? 200
            switch outcomes.statuses.meaning(of: status, for: .create) {
            case .signedOut: return changes.map { _ in .signedOut }
            case .rejected where isJSON:
                // One change may be the cause, so it is looked for by halves.
                if changes.count > 1 { throw PushError.tooLarge }
                return [.rejected(status: status)]
            case .later:
                return changes.map { _ in .later(answer.retryAfter?.milliseconds, status: answer.status) }
            default: return changes.map { _ in .notUnderstood(status: status) }
            }
        }
        guard let found = json[results], found.kind == .list else {
            return changes.map { _ in .notUnderstood(status: answer.status ?? 200) }
        }
        return sorted(found.items, changes).map { change, result in
            guard let result, let code = result[status]?.integer.map({ Int(clamping: $0) }) else {
                return .notUnderstood(status: answer.status ?? 200)
            }
            return outcomes.outcome(
                of: change, status: code, body: result, isJSON: true, wait: answer.retryAfter)
        }
    }

    /// Returns each change with its result; nil if it has none.
    private func sorted(_ results: [JSONText], _ changes: [PushedChange]) -> [(PushedChange, JSONText?)] {
        guard let match else {
            // Nobody can say which one is missing.
            let isWhole = results.count == changes.count
            return changes.enumerated().map { ($1, isWhole ? results[$0] : nil) }
        }
        var named: [[UInt8]: JSONText] = [:]
        for result in results {
            guard let name = result[match]?.name else { continue }
            // Two results for one change say nothing.
            named[Array(name.utf8)] = named[Array(name.utf8)] == nil ? result : JSONText.null
        }
        return changes.map { change in
            let name = [change.key, change.id?.name].compactMap { $0.map { Array($0.utf8) } }.first { named[$0] != nil }
            return (change, name.flatMap { named[$0] })
        }
    }
}
