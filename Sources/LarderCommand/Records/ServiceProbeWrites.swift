import Larder
import LarderSync
import LarderSystem

// Making, changing and deleting a record of the probe's own.
extension ServiceProbe {
    /// A record that the probe has made.
    struct Made {
        var id: JSONText
        var record: JSONText?
        var version: JSONText?
    }

    /// Makes a record at the service, changes it and deletes it. What it has made is deleted in any case.
    mutating func write(_ sample: JSONText) async {
        guard let pusher = service.pusher else { return find(.lacks, "changes are never sent", at: "records.push") }
        if service.puller != nil, first == nil { return find(.untried, "writing, because records cannot be fetched") }
        var made: [Made] = []
        if let record = await create(sample, by: pusher, noting: &made) {
            await change(record, by: pusher, noting: &made)
        }
        await deleteAll(made, pusher)
        if let lost { await deleteLost(lost, beside: made, pusher) }
    }

    // MARK: Making

    /// Makes a record twice with the same key.
    private mutating func create(_ sample: JSONText, by pusher: any Pusher, noting made: inout [Made]) async -> Made? {
        let id = service.namesRecords ? nil : JSONText(string: Self.newID())
        let record = sample.setting(service.id.steps, to: id)
        let change = PushedChange(
            .create, id: id, key: Self.newID(), record: record, madeAt: now.nanoseconds / 1_000_000)
        guard let first = await send(change, by: pusher, to: "make a record") else { return nil }
        guard let record = note(first, of: change, &made) else {
            findMistake(first, "a new record", isEmpty: sample.members.isEmpty)
            return nil
        }
        find(
            .ok,
            service.namesRecords ? "a new record is accepted, and the answer has its id" : "a new record is accepted")
        guard let second = await send(change, by: pusher, to: "make it again") else { return record }
        let again = note(second, of: change, &made)
        if again?.id == record.id {
            find(.ok, "the same key twice makes one record")
        } else if again != nil {
            find(
                .lacks, "the same key twice makes two records: after a lost answer, a record is made twice",
                at: "records.push.key")
        } else {
            find(
                .lacks,
                "the same change twice is answered with \(Self.words(second)), and not with the first answer: after "
                    + "a lost answer, the change counts as that", at: "records.push.key")
        }
        return record
    }

    /// Notes the record of an answer. Returns nil if the change was not accepted.
    private func note(_ outcome: WriteOutcome, of change: PushedChange, _ made: inout [Made]) -> Made? {
        guard case .accepted(let record, let version) = outcome, let id = record?[service.id] ?? change.id else {
            return nil
        }
        let new = Made(
            id: id, record: record ?? change.record, version: version ?? service.version.flatMap { record?[$0] })
        if !made.contains(where: { $0.id == id }) { made.append(new) }
        return new
    }

    /// The advice for a record without fields.
    static let needOfFields = "the service may need fields, which --record FILE gives"

    private mutating func findMistake(_ outcome: WriteOutcome, _ what: String, isEmpty: Bool = false) {
        switch outcome {
        case .unknown: find(.wrong, "there is no answer to \(what)")
        case .notUnderstood:
            find(
                .wrong, "the answer to \(what) cannot be understood: it is no JSON, or has no record with an id",
                at: "records.push.record")
        case .rejected:
            find(
                .wrong,
                "\(what) is refused with \(Self.words(outcome)); "
                    + (isEmpty ? Self.needOfFields : "--record FILE gives another one"))
        default: find(.wrong, "\(what) is answered with \(Self.words(outcome))", at: "outbox")
        }
    }

    // MARK: Changing

    /// Changes a record, and then again on the version before.
    private mutating func change(_ former: Made, by pusher: any Pusher, noting made: inout [Made]) async {
        var former = former
        if service.version != nil, former.version == nil {
            former.record = await found(former.id) ?? former.record
            former.version = service.version.flatMap { former.record?[$0] }
        }
        guard let place = changeablePlace(former.record) else {
            return find(.untried, "a change: the record of --record has no text to change")
        }
        let update = update(of: former, at: place, to: "larder probe 1")
        guard let outcome = await send(update, by: pusher, to: "change a record") else { return }
        guard case .accepted(let record, let version) = outcome else {
            return findMistake(outcome, "a change")
        }
        find(.ok, "a change is accepted" + (record == nil ? ", without the record in the answer" : ""))
        var present = former
        present.record = record
        if record == nil { present.record = await found(former.id) }
        present.version = version ?? service.version.flatMap { present.record?[$0] }
        replace(present, in: &made)
        guard service.version != nil, former.version != nil else { return }
        if present.version == former.version {
            find(.wrong, "the version is the same after a change", at: "records.version")
        }
        let stale = self.update(of: former, at: place, to: "larder probe 2")
        guard let second = await send(stale, by: pusher, to: "change an old version") else { return }
        switch second {
        case .conflict: find(.ok, "a change of an old version is refused, and the answer has the record")
        case .conflictWithoutRecord: find(.ok, "a change of an old version is refused; the record is looked up then")
        case .accepted(let record, let version):
            present.version = version ?? service.version.flatMap { record?[$0] }
            replace(present, in: &made)
            find(
                .lacks, "a change of an old version is accepted: a change of another device is overwritten",
                at: "records.push.update")
        default:
            find(.wrong, "a change of an old version is answered with \(Self.words(second))", at: "outbox.conflict")
        }
    }

    private func replace(_ record: Made, in made: inout [Made]) {
        for place in made.indices where made[place].id == record.id { made[place] = record }
    }

    /// Returns the place of a value that may be changed.
    private func changeablePlace(_ record: JSONText?) -> String? {
        let fixed = [service.id, service.version, service.updatedAt].compactMap { $0?.steps }
        return record?.members.first { member in
            member.value.kind == .string && !fixed.contains([member.name])
                && RecordService.time(member.value) == nil
        }?.name
    }

    private func update(of record: Made, at name: String, to text: String) -> PushedChange {
        let after = JSONText(string: text)
        return PushedChange(
            .update, id: record.id, key: Self.newID(), record: record.record?.setting([name], to: after),
            fields: [PushedChange.Field(JSONPointer(steps: [name]), before: record.record?[name], after: after)],
            version: record.version, madeAt: now.nanoseconds / 1_000_000)
    }

    func found(_ id: JSONText) async -> JSONText? {
        guard let name = id.name else { return nil }
        countCall()
        return try? await service.record(name)
    }

    // MARK: Calls

    /// Sends a change. Returns nil if that failed, which is then told.
    mutating func send(_ change: PushedChange, by pusher: any Pusher, to aim: String) async -> WriteOutcome? {
        countCall()
        do {
            let outcome = try await pusher.push([change], by: service.call).first ?? .unknown
            switch outcome {
            case .unknown, .notUnderstood, .later: if change.kind == .create { lost = change }
            default: break
            }
            if case .signedOut = outcome {
                find(.wrong, "the attempt to \(aim): nobody is signed in")
                return nil
            }
            return outcome
        } catch {
            if change.kind == .create { lost = change }
            find(.wrong, "the attempt to \(aim): " + Self.reason(error))
            return nil
        }
    }

    static func newID() -> String { "larder-probe-" + SystemWorld().token() }

    static func words(_ outcome: WriteOutcome) -> String {
        switch outcome {
        case .accepted: "acceptance"
        case .conflict, .conflictWithoutRecord: "a conflict"
        case .conflictWithDeletion: "the word that the record is gone"
        case .rejected(let status): status.map { "the status \($0)" } ?? "errors"
        case .later: "a request to come later"
        case .signedOut: "the word that nobody is signed in"
        case .unknown: "no answer"
        case .notUnderstood: "nothing that can be understood"
        }
    }
}
