public import Larder
import LarderFoundation
public import LarderSync
import LarderSystem

/// A suite that checks whether a pusher keeps its promises: that changes arrive once, that each has its own outcome, and that
/// none counts as made without the service's word.
///
/// ```swift
/// #expect(await PusherConformance(ZonePusher(zone), in: zone).brokenPromises() == [])
/// ```
public struct PusherConformance: Sendable {
    let pusher: any Pusher
    let service: any TestedService
    let id: JSONPointer
    let version: JSONPointer?
    let namesRecords: Bool

    /// Creates the suite for a pusher.
    ///
    /// - Parameters:
    ///   - pusher: the pusher to test.
    ///   - service: an empty service, to which the pusher talks. The suite sends records that have the members `id`, `text` and
    ///     `updatedAt`.
    ///   - id: the place of the id in a record.
    ///   - version: the place of the version in a record; nil if the service does not notice that somebody else has changed a
    ///     record.
    ///   - namesRecords: whether the service names new records.
    public init(
        _ pusher: any Pusher, in service: any TestedService, id: JSONPointer = JSONPointer(steps: ["id"]),
        version: JSONPointer? = nil, namesRecords: Bool = false
    ) {
        (self.pusher, self.service, self.id) = (pusher, service, id)
        (self.version, self.namesRecords) = (version, namesRecords)
    }

    /// Runs the suite and returns the promises that are not kept, each with the first situation in which it was broken.
    public func brokenPromises() async -> [BrokenPromise] {
        var findings = BrokenPromises()
        findings.situation = "it says how much it sends at once"
        findings.expect(
            pusher.most > 0 && pusher.parallel > 0, promise: .traits, expected: "at least one change and one call",
            got: "\(pusher.most) and \(pusher.parallel)")
        await checkArrival(&findings)
        await checkRefusal(&findings)
        await checkTroubles(&findings)
        await checkLostAnswer(&findings)
        if version != nil { await checkConflict(&findings) }
        return findings.broken
    }

    // MARK: Situations

    private func checkArrival(_ findings: inout BrokenPromises) async {
        findings.situation = "records are made, changed and deleted"
        let made = await push((0..<3).map { create($0) }, &findings)
        await expectAccepted(made, &findings)
        let ids = await service.content(id).keys.sorted()
        findings.expect(
            ids.count == 3 && (namesRecords || ids == (0..<3).map(SampleRecords.id)), promise: .arrives,
            expected: "three new records", got: "\(ids)")
        guard ids.count == 3 else { return }
        let (first, second) = (ids[0], ids[1])
        let changed = await change(first, to: "changed")
        await expectAccepted(await push([changed, await deletion(second)], &findings), &findings)
        let content = await service.content(id)
        findings.expect(
            content[first]?["text"]?.string == "changed", promise: .arrives, expected: "the change of a record",
            got: content[first] == nil ? "no record" : "the record before it")
        findings.expect(
            content[second] == nil, promise: .arrives, expected: "the end of a record", got: "the record")
    }

    private func checkRefusal(_ findings: inout BrokenPromises) async {
        findings.situation = "the service refuses the first of three changes"
        let ids = [20, 21, 22].map(SampleRecords.id)
        for number in 20...22 { try? await service.put(SampleRecords.record(number)) }
        await service.set(.refuses(id: ids[0]))
        var changes: [PushedChange] = []
        for id in ids { changes.append(await change(id, to: "changed")) }
        let outcomes = await push(changes, &findings) ?? []
        await service.set(nil)
        findings.expect(
            outcomes.map(\.kind) == [.rejected, .accepted, .accepted], promise: .ownOutcomes,
            expected: "rejected, accepted, accepted", got: "\(outcomes.map(\.kind.rawValue))")
    }

    private func checkTroubles(_ findings: inout BrokenPromises) async {
        for trouble in [ServiceTrouble.unreachable, .loginPage, .signedOut] {
            findings.situation = "trouble: \(trouble)"
            try? await service.put(SampleRecords.record(30))
            let changes = [await change(SampleRecords.id(30), to: "changed")]
            await service.set(trouble)
            var failure: (any Error)?
            let outcomes = await push(changes, &findings) { failure = $0 }
            await service.set(nil)
            let kinds = outcomes?.map(\.kind) ?? []
            findings.expect(
                !kinds.contains { [.accepted, .rejected, .conflict].contains($0) }, promise: .claimsNothing,
                expected: "no decision without the service's word", got: "\(kinds.map(\.rawValue))")
            if trouble == .signedOut {
                let isTold = outcomes == nil ? (failure as? LoadError)?.code == .notSignedIn : kinds == [.signedOut]
                findings.expect(
                    isTold, promise: .tellsSignOut, expected: "signedOut, or a LoadError of the code notSignedIn",
                    got: failure.map { "\(type(of: $0))" } ?? "\(kinds.map(\.rawValue))")
            }
        }
    }

    /// A change is made and its answer is lost, so it comes again with its key.
    private func checkLostAnswer(_ findings: inout BrokenPromises) async {
        findings.situation = "the answer to a new record is lost, and it is sent again"
        let (before, change) = (await service.records.count, create(40))
        await service.set(.losesAnswers)
        let kinds = (await push([change], &findings) ?? []).map(\.kind)
        findings.expect(
            !kinds.contains(.accepted), promise: .claimsNothing, expected: "no decision without an answer",
            got: "\(kinds.map(\.rawValue))")
        await service.set(nil)
        _ = await push([change], &findings)
        let made = await service.records.count - before
        findings.expect(made == 1, promise: .appliesOnce, expected: "one record", got: "\(made) records")
    }

    private func checkConflict(_ findings: inout BrokenPromises) async {
        findings.situation = "somebody else has changed the record"
        try? await service.put(SampleRecords.record(50))
        let mine = await change(SampleRecords.id(50), to: "mine")
        try? await service.put(SampleRecords.record(50, "theirs"))
        let outcomes = await push([mine], &findings) ?? []
        findings.expect(
            outcomes.map(\.kind) == [.conflict], promise: .tellsConflicts, expected: "conflict",
            got: "\(outcomes.map(\.kind.rawValue))")
        let text = await service.content(id)[SampleRecords.id(50)]?["text"]?.string
        findings.expect(
            text == "theirs", promise: .tellsConflicts, expected: "the other change", got: "the own one in its place")
    }

    private func expectAccepted(_ outcomes: [WriteOutcome]?, _ findings: inout BrokenPromises) async {
        let kinds = outcomes?.map(\.kind)
        findings.expect(
            kinds?.allSatisfy { $0 == .accepted } == true, promise: .arrives, expected: "accepted changes",
            got: kinds.map { "\($0.map(\.rawValue))" } ?? "an error")
        guard namesRecords, let outcomes else { return }
        let isNamed = outcomes.allSatisfy { outcome in
            if case .accepted(let record?, _) = outcome { return record[id]?.name?.isEmpty == false }
            return false
        }
        findings.expect(
            isNamed || outcomes.count != 3, promise: .tellsNames, expected: "each new record with its id",
            got: "accepted ones without")
    }

    // MARK: Changes

    private func create(_ number: Int) -> PushedChange {
        let record = SampleRecords.record(number)
        return PushedChange(
            .create, id: namesRecords ? nil : JSONText(string: SampleRecords.id(number)), key: "create-\(number)",
            record: namesRecords ? record.setting(id.steps, to: nil) : record)
    }

    private func change(_ name: String, to text: String) async -> PushedChange {
        let record = await service.content(id)[name] ?? .object
        let after = JSONText(string: text)
        return PushedChange(
            .update, id: record[id] ?? JSONText(string: name), key: "update-\(name)-\(text)",
            record: record.setting(["text"], to: after),
            fields: [PushedChange.Field(JSONPointer(steps: ["text"]), before: record["text"], after: after)],
            version: version.flatMap { record[$0] })
    }

    private func deletion(_ name: String) async -> PushedChange {
        let record = await service.content(id)[name]
        return PushedChange(
            .delete, id: record?[id] ?? JSONText(string: name), key: "delete-\(name)", record: nil,
            version: version.flatMap { record?[$0] })
    }

    /// Sends changes, as many at once as the pusher takes.
    ///
    /// - Returns: the outcomes; nil if the pusher has thrown an error.
    private func push(
        _ changes: [PushedChange], _ findings: inout BrokenPromises, onFailure: (any Error) -> Void = { _ in }
    ) async -> [WriteOutcome]? {
        let calls = Locked(0)
        let call = PushCall(id: id) { [service] parameters, method, fields, body in
            calls.withLock { $0 += 1 }
            let request = Request("records", parameters, fields: fields, body: body)
            do {
                let entry = try await service.load(Call(sending: request, method: method)).value
                return PushAnswer(
                    status: entry.metadata.status, fields: entry.metadata.fields, body: entry.payload.bytes)
            } catch let error as LoadError {
                guard let status = error.status else { throw error }
                return PushAnswer(
                    status: status, fields: error.reply?.fields ?? [:], body: error.reply?.body ?? Data(),
                    retryAfter: error.retryAfter)
            }
        }
        var outcomes: [WriteOutcome] = []
        for start in stride(from: 0, to: changes.count, by: max(1, pusher.most)) {
            let part = Array(changes[start..<min(changes.count, start + max(1, pusher.most))])
            do {
                let found = try await pusher.push(part, by: call)
                findings.expect(
                    found.count == part.count, promise: .ownOutcomes, expected: "\(part.count) outcomes",
                    got: "\(found.count)")
                outcomes += found
            } catch {
                findings.expect(
                    !"\(error)".contains(SampleRecords.secret), promise: .failures,
                    expected: "a message without anything of a record", got: "\(error)")
                onFailure(error)
                return nil
            }
        }
        let count = calls.withLock { $0 }
        findings.expect(
            count <= changes.count, promise: .repeatsNoSend, expected: "at most \(changes.count) calls",
            got: "\(count) calls")
        return outcomes
    }
}

extension WriteOutcome {
    fileprivate enum Kind: String {
        case accepted, conflict, rejected, later, signedOut, unknown
    }

    fileprivate var kind: Kind {
        switch self {
        case .accepted: .accepted
        case .conflict, .conflictWithDeletion, .conflictWithoutRecord: .conflict
        case .rejected: .rejected
        case .later: .later
        case .signedOut: .signedOut
        case .unknown, .notUnderstood: .unknown
        }
    }
}
