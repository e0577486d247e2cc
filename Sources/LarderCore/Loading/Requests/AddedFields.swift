import LarderSystem

/// The fields that an origin adds to requests that lack them.
struct AddedFields: Sendable {
    private let fields: Fields
    /// The details of a request that has no others.
    private let details: Request.Details?

    init(_ fields: Fields = [:]) {
        self.fields = fields
        details = fields.isEmpty ? nil : Request.Details(Request.Content(), adding: fields)
    }

    /// Returns a request that knows of these fields.
    func added(to request: Request) -> Request {
        if fields.isEmpty, request.details?.addedFields.isEmpty != false { return request }
        var request = request
        request.details =
            if let own = request.details, own.content != Request.Content() {
                Request.Details(own.content, adding: fields)
            } else {
                details
            }
        return request
    }
}
