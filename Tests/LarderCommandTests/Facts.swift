import Foundation
import Testing

/// The JSON output of a command, parsed by Foundation instead of Larder.
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
    /// Returns the value as JSON on one line with sorted names.
    var text: String {
        let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
        let data = try? JSONSerialization.data(withJSONObject: value, options: options)
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
    var isTrue: Bool { value as? Bool == true }
}
