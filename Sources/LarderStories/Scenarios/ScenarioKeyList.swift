import Larder

/// A key of scenario files, taken from its declaration.
package struct ScenarioKey: Sendable {
    package let path: String
    package let help: String
    package let isRequired: Bool

    /// Every key. The keys of an object follow the object.
    package static var all: [ScenarioKey] { keys(of: SettingType.scenarioFile(of: []).schema, below: "") }

    private static func keys(of schema: JSON, below path: String) -> [ScenarioKey] {
        guard let properties = schema["properties"]?.members else {
            let items = [schema["items"]] + (schema["anyOf"]?.items.map { $0 } ?? [])
            return items.compactMap { $0 }.first.map { keys(of: $0, below: path) } ?? []
        }
        let required = schema["required"]?.items ?? []
        return properties.flatMap { property in
            let path = path.isEmpty ? property.name : path + "." + property.name
            let help = property.value["description"]?.text ?? ""
            let key = ScenarioKey(path: path, help: help, isRequired: required.contains(.string(property.name)))
            return [key] + keys(of: property.value, below: path)
        }
    }
}

extension JSON {
    fileprivate subscript(name: String) -> JSON? { members?.first { $0.name == name }?.value }

    fileprivate var items: [JSON]? {
        if case .list(let items) = self { items } else { nil }
    }

    fileprivate var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
