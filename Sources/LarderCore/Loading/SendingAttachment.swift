public import LarderFoundation

/// An attachment that the changes pass which are sent to its resource, such as a queue that keeps them until the origin can be
/// reached.
///
/// It sends a change by itself with ``SectionContext/send(_:method:invalidating:onlyTo:)``.
public protocol SendingAttachment: Attachment {
    /// Sends a change, or keeps it and sends it later.
    ///
    /// The origin accepts changes: others fail before.
    ///
    /// - Parameters:
    ///   - request: the parameters, fields and body for the origin, in the scope of its account.
    ///   - method: the kind of change.
    ///   - selections: the copies of the resource that are out of date after the change.
    /// - Returns: the origin's answer; nil if the pantry shall send the change as if there were no attachment. For a change
    ///   that is sent later, an answer without a payload:
    ///
    ///   ```swift
    ///   Loaded(Data(), from: .store("outbox"), isStored: true)
    ///   ```
    /// - Throws: ``LoadError``; `CancellationError`.
    func send(_ request: Request, method: String, invalidating selections: [Selection]) async throws -> Loaded<Data>?
}
