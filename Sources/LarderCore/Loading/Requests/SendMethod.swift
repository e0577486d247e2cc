/// The kind of change that a call sends, such as `POST`, behind a single reference.
final class SendMethod: Sendable {
    let name: String

    init(_ name: String) {
        self.name = name
    }
}

extension Call {
    /// Whether the call changes something at the origin: see ``Resource/send(_:method:invalidating:)``. Such a call must
    /// not be repeated, and its answer must not be kept.
    public var isSend: Bool { sendMethod != nil }

    /// The kind of change, such as `POST` or `DELETE`; nil for a load.
    public var method: String? { sendMethod?.name }

    /// Creates a call that changes something at the origin, for tests of origins and wrappers.
    package init(
        sending request: Request, method: String = "POST", trail: Trail.Recorder = Trail.Recorder(),
        deadline: Duration? = nil
    ) {
        self.init(request, codec: .raw, trail: trail, deadline: deadline)
        sendMethod = SendMethod(method)
    }
}
