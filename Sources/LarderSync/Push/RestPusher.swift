import Larder
import LarderFoundation

extension Plugin {
    /// Sends each change in a call of its own.
    static let pushRest = pusher(
        "rest", "Sends each change in a call of its own, to the address of its record.", .group(RestSettings()),
        facts: { settings in
            let calls = [settings.create, settings.update, settings.delete]
            var facts = PushFacts(calls: calls.map(\.parameterNames))
            facts.sendsKeys = !settings.key.isEmpty || settings.create.contains(.key)
            facts.sendsVersions = settings.update.contains(.version) && settings.delete.contains(.version)
            return facts
        }
    ) { _, settings in RestPusher(settings) }
}

/// The settings of the pusher `rest`.
struct RestSettings {
    let create = Setting(
        "create", .restCall(RestCall.create), default: .create, help: "The call for a new record")
    let update = Setting(
        "update", .restCall(RestCall.update), default: .update, help: "The call for changed fields")
    let delete = Setting(
        "delete", .restCall(RestCall.delete), default: .delete,
        help: "The call for a deletion; 404 and 410 mean that it is done")
    let key = Setting(
        "key", .fieldOrNone, default: "Idempotency-Key",
        help: "The header field by which the service knows whether it has seen a change; \"\" if it knows none")
    let record = Setting(
        "record", .answerPointer, default: JSONPointer(steps: []), help: "The place of the record in an answer")
    let conflictRecord = Setting(
        "conflictRecord", optional: .answerPointer,
        help: "The place of the service's record in an answer with the status 409 or 412; without it, it is looked up")
    let failed = Setting(
        "failed", optional: .answerPointer,
        help: "The place of errors in an answer with a good status, such as \"/errors\" of GraphQL")
    let parallel = Setting("parallel", .int(1...16), default: 4, help: "The most calls at once")
}

/// Sends each change to the address of its record.
struct RestPusher: Pusher {
    let calls: [PushedChange.Kind: RestCall]
    let key: String
    let outcomes: PushOutcomes
    let most = 1
    let parallel: Int

    init(_ settings: SettingValues<RestSettings>) {
        calls = [.create: settings.create, .update: settings.update, .delete: settings.delete]
        (key, parallel) = (settings.key, settings.parallel)
        outcomes = PushOutcomes(
            record: settings.record, conflictRecord: settings.conflictRecord, failed: settings.failed)
    }

    func push(_ changes: [PushedChange], by call: PushCall) async throws -> [WriteOutcome] {
        var found: [WriteOutcome] = []
        for change in changes { found.append(try await push(change, by: call)) }
        return found
    }

    private func push(_ change: PushedChange, by call: PushCall) async throws -> WriteOutcome {
        guard let rest = calls[change.kind] else { return .unknown }
        var parameters = rest.parameters.mapValues { PushTemplate.filled($0, change.value(of:)) }
        // A service with one address for all finds the id in the body.
        let isNamed = rest.namesID && !call.takesParameter("id")
        if rest.hasID, parameters["id"] == nil, !isNamed { parameters["id"] = change.id?.name }
        var fields: Fields = [:]
        for (name, text) in rest.fields.sorted(by: { $0.key < $1.key }) {
            let value = PushTemplate.filled(text, change.value(of:))
            // A precondition without a version is none.
            if !value.isEmpty, let field = Fields.Field(name, value) { fields.add(field) }
        }
        if !key.isEmpty, let field = Fields.Field(key, change.key) { fields.add(field) }
        let body = rest.body.map { Data($0.filled(change.value(of:)).bytes) }
        if body != nil, fields["Content-Type"] == nil, let field = Fields.Field("Content-Type", "application/json") {
            fields.add(field)
        }
        let answer = try await call.send(Parameters(parameters), method: rest.method, fields: fields, body: body)
        let (json, isJSON) = answer.json
        return outcomes.with(call).outcome(
            of: change, status: answer.status, body: json, isJSON: isJSON, wait: answer.retryAfter)
    }
}
