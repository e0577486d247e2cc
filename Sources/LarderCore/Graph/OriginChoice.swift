/// Chooses between the policy's own origin and an alternative one, which is called on some networks.
///
/// A request for the alternative has a field of its own. So calls and copies of the two origins are kept apart like all
/// answers that vary by a field.
struct OriginChoice: Sendable {
    /// The field of RFC 8674 and its value.
    private static let (name, value) = ("save-data", "on")

    let world: any World
    /// Whether the alternative is called on a network.
    let isAlternative: @Sendable (NetworkState) -> Bool

    /// Returns the request of a load that begins now. A field that the app has set decides.
    func request(_ request: Request) -> Request {
        if request.details == nil || request.fields[Self.name] == nil {
            return isAlternative(world.network) ? Self.alternative(request) : request
        }
        return Self.requestAsChosen(request)
    }

    /// Returns the request of a refresh that begins now and that a load has asked for earlier, perhaps on another network.
    func requestAgain(_ request: Request) -> Request {
        request.choosesOrigin ? request : self.request(Self.usual(request))
    }

    /// Returns the request for the origin that the app has chosen by the field: the policy's own unless its value is `on`.
    static func requestAsChosen(_ request: Request) -> Request {
        var request = isAlternative(request) ? request : usual(request)
        request.choosesOrigin = true
        return request
    }

    /// Returns whether a request is for the alternative.
    static func isAlternative(_ request: Request) -> Bool {
        request.details != nil && request.fields[name] == value
    }

    /// Returns the same request for each origin, the policy's own first.
    static func both(_ request: Request) -> [Request] { [usual(request), alternative(request)] }

    /// Returns the same request for the other origin.
    static func other(than request: Request) -> Request {
        isAlternative(request) ? usual(request) : alternative(request)
    }

    private static func alternative(_ request: Request) -> Request {
        var request = request
        request.fields[name] = value
        return request
    }

    private static func usual(_ request: Request) -> Request {
        var request = request
        request.fields[name] = nil
        return request
    }

    // MARK: Copies

    private static let note = NoteKey<String>("larder.origin")

    /// Returns whether a copy came from the alternative.
    static func isAlternative(_ metadata: Metadata) -> Bool { metadata[note] == "alternative" }

    /// Returns the request that a copy answers: one for the origin that it came from.
    static func request(_ request: Request, answeredBy metadata: Metadata) -> Request {
        if metadata[note] == nil { return request }
        return isAlternative(metadata) ? alternative(request) : usual(request)
    }

    /// Returns the names of the fields by which the answers of one origin vary. Returns nil if the request is for the other
    /// origin by its field. A request without the field follows the answers of both.
    static func names(_ names: [String], of metadata: Metadata, for request: Request) -> [String]? {
        guard metadata[note] != nil else { return names }
        let wanted = request.details == nil ? nil : request.fields[name]
        if let wanted, (wanted == value) != isAlternative(metadata) { return nil }
        return names.filter { $0 != name }
    }

    /// Marks an answer with its origin.
    static func mark(_ metadata: inout Metadata, isAlternative: Bool) {
        if !metadata.variesBy.contains(name) { metadata.variesBy.append(name) }
        metadata[note] = isAlternative ? "alternative" : "own"
    }
}

/// Calls the alternative origin for the requests that are for it, and the policy's own for all others.
struct ChosenOrigin: Loader {
    let usual: any Loader
    let alternative: any Loader

    var keepsLimit: Bool { usual.keepsLimit && alternative.keepsLimit }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if call.isSend { return try await usual.load(call) }
        let isAlternative = OriginChoice.isAlternative(call.request)
        if isAlternative { call.trail.note("origin", .alternative) }
        var loaded = try await (isAlternative ? alternative : usual).load(call)
        OriginChoice.mark(&loaded.content.metadata, isAlternative: isAlternative)
        return loaded
    }
}

/// Restricts the use of copies that came from another origin than the one that the request is for.
struct OtherOriginsCopies: Validator {
    func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
        let isAlternative = OriginChoice.isAlternative(metadata)
        if isAlternative == OriginChoice.isAlternative(request) { return Permissions(.all) }
        // A version of one origin says nothing to the other.
        return isAlternative
            ? Permissions(.all).refusing([.fresh, .earlyRefresh, .revalidation], "it is from the alternative origin")
            : Permissions(.all).refusing([.earlyRefresh, .revalidation], "it is from the policy's own origin")
    }
}
