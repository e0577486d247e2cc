import Foundation
import Testing

/// What a command wrote as JSON, read by another reader than Larder's own.
struct Facts {
    let value: Any

    init(_ text: String) throws {
        value = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    }

    private init(_ value: Any) {
        self.value = value
    }

    subscript(name: String) -> Facts { Facts((value as? [String: Any])?[name] ?? NSNull()) }

    var items: [Facts] { (value as? [Any] ?? []).map(Facts.init) }
    var members: [String: Any] { value as? [String: Any] ?? [:] }
    var string: String? { value as? String }
    var int: Int? { value as? Int }
    /// As JSON in the order of names, on one line.
    var text: String {
        let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
        let data = try? JSONSerialization.data(withJSONObject: value, options: options)
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
    var isTrue: Bool { value as? Bool == true }
}
