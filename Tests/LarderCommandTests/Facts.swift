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
    var isTrue: Bool { value as? Bool == true }
}
