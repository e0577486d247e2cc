public import Larder
public import LarderFoundation
import LarderSystem

/// A call in which a change would be sent.
public struct PushDraft: Sendable {
    /// The method, such as `PATCH`.
    public let method: String
    /// The parameters of the URL.
    public let parameters: Parameters
    /// The fields, without those of the policy's signer.
    public let fields: Fields
    /// The body; nil if there is none.
    public let body: Data?
}

extension RecordService {
    /// Returns the call in which a change would be sent, alone. Nothing is sent.
    ///
    /// The change may come from another policy of the resource, so it can be seen before a policy is used how it sends what
    /// waits:
    ///
    /// ```swift
    /// for change in try await collections.waiting() { show(try await corrected.draft(of: change.pushed)) }
    /// ```
    ///
    /// - Returns: the call; nil if the policy has no `push`, or if its pusher does not tell the language of its service. Such
    ///   a one may send by ways of its own, so it is not tried.
    public func draft(of change: PushedChange) async throws -> PushDraft? {
        guard let pusher, pusher.dialect != nil else { return nil }
        let drafts = Locked([PushDraft]())
        let call = call.answering { parameters, method, fields, body in
            drafts.withLock {
                $0.append(PushDraft(method: method, parameters: parameters, fields: fields, body: body))
            }
            return PushAnswer(status: nil)
        }
        _ = try await pusher.push([change.merging(rules.unions)], by: call)
        return drafts.withLock { $0.first }
    }
}

extension RecordService {
    /// Returns whether changes that were made for the service of another policy are sent to this one: if both have the same
    /// source, or the other's source is named by `formerly`.
    public func continues(_ other: RecordService) -> Bool {
        let (present, former) = (rules, other.rules.source)
        return present.source == former || present.formerSources.contains(former)
    }
}

extension PushedChange {
    /// Returns the change with other lists that are merged item by item.
    fileprivate func merging(_ unions: [[String]]) -> PushedChange {
        let fields = fields.map { field in
            Field(
                field.place, before: field.before, after: field.after, isUnion: unions.contains(field.place.steps))
        }
        return PushedChange(
            kind, id: id, key: key, record: record, fields: fields, version: version, madeAt: madeAt)
    }
}

extension PushCall {
    /// Returns a way that ends here.
    fileprivate func answering(
        _ answer: @escaping @Sendable (Parameters, _ method: String, Fields, _ body: Data?) async throws -> PushAnswer
    ) -> PushCall {
        PushCall(
            account: account, statuses: statuses, idPath: idPath, source: source, takesParameter: takesParameter,
            answer: answer)
    }
}
