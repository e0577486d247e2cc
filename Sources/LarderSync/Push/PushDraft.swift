public import Larder
public import LarderFoundation
import LarderSystem

/// A call in which a change would be sent.
public struct PushDraft: Sendable {
    /// The method, such as `PATCH`.
    public let method: String
    /// The parameters of the URL.
    public let parameters: Parameters
    /// The fields that the pusher gives. The origin and the signer may add others.
    public let fields: Fields
    /// The body; nil if there is none.
    public let body: Data?
}

extension RecordService {
    /// Returns the call in which a change would be sent, alone. Nothing is sent.
    ///
    /// The change may come from another policy of the resource. So it can be seen how a corrected policy sends what waits,
    /// before it is used:
    ///
    /// ```swift
    /// for change in try await collections.waiting() { show(try await corrected.draft(of: change.pushed)) }
    /// ```
    ///
    /// - Returns: the call; nil if the policy has no `push`, or if its pusher does not tell the language of its service. Such
    ///   a pusher may send in ways of its own, so it is not tried.
    public func draft(of change: PushedChange) async throws -> PushDraft? {
        guard let pusher, pusher.dialect != nil else { return nil }
        let drafts = Locked([PushDraft]())
        let call = call.answering { parameters, method, fields, body in
            drafts.withLock {
                $0.append(PushDraft(method: method, parameters: parameters, fields: fields, body: body))
            }
            return PushAnswer(status: nil)
        }
        _ = try await pusher.push([change.read(by: rules)], by: call)
        return drafts.withLock { $0.first }
    }

    /// Returns whether a change is sent to the source of this policy: it was made for it, or for one that `formerly` names.
    /// Others are held.
    public func sends(_ change: PushedChange) -> Bool {
        change.source.map(rules.isPresent) ?? true
    }
}

extension PushedChange {
    /// Returns the change as another policy reads it.
    fileprivate func read(by rules: SyncRules) -> PushedChange {
        var change = self
        change.fields = fields.map { field in
            Field(
                field.place, before: field.before, after: field.after, isUnion: rules.isUnion(field.place.steps))
        }
        if rules.versionPath == nil { change.version = nil }
        return change
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
