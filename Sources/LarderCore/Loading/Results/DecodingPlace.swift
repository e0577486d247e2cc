import LarderFoundation

extension LoadError {
    /// The error of a payload that its codec refused. The message says where, if the codec does.
    static func undecodable(_ error: any Error) -> LoadError {
        let place = (error as? DecodingError).map { ": \(Self.place(of: $0))" } ?? ""
        return LoadError(.undecodable, "payload does not decode\(place)", origin: error)
    }

    /// `items[3].price is missing`. Names nothing that comes from the payload.
    private static func place(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing"
        case .valueNotFound(_, let context): "\(path(context.codingPath)) is null"
        case .typeMismatch(let type, let context): "\(path(context.codingPath)) is not of the type \(type)"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty ? "it is damaged" : "\(path(context.codingPath)) has a wrong value"
        @unknown default: "it has another form"
        }
    }

    /// The path of a value in its type. The keys of a dictionary are data, so they are left out: only cases without a
    /// value count as names, and only the indices of lists as numbers.
    private static func path(_ keys: [any CodingKey]) -> String {
        var text = ""
        for key in keys {
            if let index = key.intValue, key.stringValue == "Index \(index)" {
                text += "[\(index)]"
            } else {
                let mirror = Mirror(reflecting: key)
                let isName = mirror.displayStyle == .enum && mirror.children.isEmpty
                text += (text.isEmpty ? "" : ".") + (isName ? key.stringValue : "…")
            }
        }
        return text.isEmpty ? "the whole" : text
    }
}
